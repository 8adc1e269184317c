; Definitions
(module name: [(constant) @name (scope_resolution scope: (_) @owner name: (_) @name)] body: (_)? @body) @module
(class name: [(constant) @name (scope_resolution scope: (_) @owner name: (_) @name)] body: (_)? @body) @class
(method name: (_) @name body: (_) @body) @function
(singleton_method object: (self) name: (_) @name body: (_) @body) @function
(singleton_method object: (identifier) @owner name: (_) @name body: (_)? @body) @function
([(assignment left: (constant) @name right: (call
    receiver: (constant) @_base method: (identifier) @_make block: (_)? @body))] @class
  (#any-of? @_base "Struct" "Class" "Module" "Data")
  (#any-of? @_make "new" "define"))
(program (assignment left: (constant) @name right: (_) @body) @constant)

; Without a body the signature ends at `end`
(module name: [(constant) @name (scope_resolution name: (_) @name)] !body "end" @body) @module
(class name: [(constant) @name (scope_resolution name: (_) @name)] !body "end" @body) @class
(method name: (_) @name !body "end" @body) @function
(singleton_method name: (_) @name !body "end" @body) @function

; Imports of literal names: "relative" to the file, or from where code is loaded
((call !receiver method: (identifier) @_word arguments: (argument_list . (string . (string_content) @specifier .))) @import
  (#eq? @_word "require_relative") (#set! how "relative"))
((call !receiver method: (identifier) @_word
    arguments: (argument_list . [(string . (string_content) @specifier .) ((simple_symbol) . (string . (string_content) @specifier .))])) @import
  (#any-of? @_word "require" "load" "autoload"))

; What stands above or beside code
(comment) @comment
[(string) (heredoc_body) (string_array) (symbol_array) (regex) (subshell) (character) (uninterpreted)] @string
