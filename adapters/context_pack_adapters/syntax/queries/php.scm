; Definitions
(function_definition name: (name) @name body: (_) @body) @function
(method_declaration name: (name) @name body: (_)? @body) @method
(class_declaration name: (name) @name body: (_) @body) @class
(interface_declaration name: (name) @name body: (_) @body) @interface
(trait_declaration name: (name) @name body: (_) @body) @trait
(enum_declaration name: (name) @name body: (_) @body) @enum
(program (const_declaration (const_element . (name) @name) @constant))

; What stands above or beside code
(attribute_list) @attribute
(comment) @comment
[(string) (encapsed_string) (heredoc) (nowdoc)] @string

; Imports: "use" and "trait" statements as written, the "namespace" they stand in, and required files: a literal
; "file", or one that is "built" of a folder and a literal
(namespace_use_declaration (#set! how "use")) @import @specifier
(use_declaration (#set! how "trait")) @import @specifier
(namespace_definition name: (namespace_name) @specifier (#set! how "namespace")) @import
(namespace_definition name: (namespace_name) @package)
([(require_expression [(string) (encapsed_string)] @specifier)
  (require_once_expression [(string) (encapsed_string)] @specifier)
  (include_expression [(string) (encapsed_string)] @specifier)
  (include_once_expression [(string) (encapsed_string)] @specifier)
  (require_expression (parenthesized_expression [(string) (encapsed_string)] @specifier))
  (require_once_expression (parenthesized_expression [(string) (encapsed_string)] @specifier))
  (include_expression (parenthesized_expression [(string) (encapsed_string)] @specifier))
  (include_once_expression (parenthesized_expression [(string) (encapsed_string)] @specifier))] @import
  (#set! how "file"))
([(require_expression (binary_expression) @specifier)
  (require_once_expression (binary_expression) @specifier)
  (include_expression (binary_expression) @specifier)
  (include_once_expression (binary_expression) @specifier)
  (require_expression (parenthesized_expression (binary_expression) @specifier))
  (require_once_expression (parenthesized_expression (binary_expression) @specifier))
  (include_expression (parenthesized_expression (binary_expression) @specifier))
  (include_once_expression (parenthesized_expression (binary_expression) @specifier))] @import
  (#set! how "built"))
