; Definitions
(method name: (_) @name body: (_)? @body) @method
(singleton_method name: (_) @name body: (_)? @body) @method
(class name: [(constant) @name (scope_resolution name: (constant) @name)] body: (_)? @body) @class
(module name: [(constant) @name (scope_resolution name: (constant) @name)] body: (_)? @body) @module
(program (assignment left: (constant) @name right: (_) @body) @constant)

; What stands beside code
(comment) @comment
[(string) (heredoc_body) (regex) (subshell) (string_array) (symbol_array)] @string
