; Definitions
(class_declaration name: (name) @name body: (_) @body) @class
(interface_declaration name: (name) @name body: (_) @body) @interface
(trait_declaration name: (name) @name body: (_) @body) @trait
(enum_declaration name: (name) @name body: (_) @body) @enum
(function_definition name: (name) @name body: (_) @body) @function
(method_declaration name: (name) @name body: (_)? @body) @method
(const_declaration (const_element . (name) @name . (_) @body)) @constant
(program (expression_statement (function_call_expression
  function: (name) @_define
  arguments: (arguments . (argument [(string (string_content) @name) (encapsed_string . (string_content) @name .)])
    . (argument))) @constant)
  (#eq? @_define "define"))
(program (expression_statement (assignment_expression
  left: (variable_name) @name
  right: [(anonymous_function body: (_) @body) (arrow_function body: (_) @body)])) @function)

; Names: "use" with what it is called here, "group" with what is taken from a namespace, "trait" of a class
(namespace_use_declaration
  (namespace_use_clause . [(name) (qualified_name)] @specifier alias: (_)? @imported) (#set! how "use")) @import
(namespace_use_declaration
  (namespace_name) @specifier body: (namespace_use_group (namespace_use_clause) @imported) (#set! how "group")) @import
(use_declaration [(name) (qualified_name) (relative_name)] @specifier (#set! how "trait")) @import
(namespace_definition name: (namespace_name) @package)

; Files: a literal name, or one that is "built" of where it starts and a literal
(_ ["require" "require_once" "include" "include_once"] . [
    (string . (string_content) @specifier .)
    (encapsed_string . (string_content) @specifier .)
    (parenthesized_expression . [(string . (string_content) @specifier .) (encapsed_string . (string_content) @specifier .)])
  ] (#set! how "file")) @import
(_ ["require" "require_once" "include" "include_once"] . [
    (binary_expression left: (_) @imported
      right: [(string . (string_content) @specifier .) (encapsed_string . (string_content) @specifier .)])
    (parenthesized_expression . (binary_expression left: (_) @imported
      right: [(string . (string_content) @specifier .) (encapsed_string . (string_content) @specifier .)]))
  ] (#set! how "built")) @import

; What stands above or beside code
(attribute_list) @attribute
(comment) @comment
[(string) (encapsed_string) (heredoc) (nowdoc) (shell_command_expression)] @string
