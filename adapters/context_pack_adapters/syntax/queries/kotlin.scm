; Definitions
(class_declaration "interface" name: (identifier) @name (class_body)? @body) @interface
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name (enum_class_body)? @body) @enum
(class_declaration name: (identifier) @name [(class_body) (enum_class_body)]? @body) @class
(object_declaration name: (identifier) @name (class_body)? @body) @class
(companion_object name: (identifier) @name (class_body)? @body) @class
(type_alias type: (identifier) @name) @type
(function_declaration name: (identifier) @name (function_body)? @body) @function
(function_declaration
  [(user_type (identifier) @owner .)
   (user_type (identifier) @owner . (type_arguments))
   (nullable_type (user_type (identifier) @owner .))
   (nullable_type (user_type (identifier) @owner . (type_arguments)))]
  . name: (identifier) @name) @function
(secondary_constructor "constructor" @name (block)? @body) @method
(source_file (property_declaration (variable_declaration (identifier) @name)) @constant)
(source_file (property_declaration (variable_declaration (identifier) @name) "=" . (_) @body) @constant)
(source_file (property_declaration (variable_declaration (identifier) @name) (getter) @body) @constant)
(property_declaration (variable_declaration (identifier) @name) (getter) @body) @function
([(object_declaration (class_body (property_declaration (variable_declaration (identifier) @name) [("=" . (_) @body) (property_delegate) @body]) @constant))
  (companion_object (class_body (property_declaration (variable_declaration (identifier) @name) [("=" . (_) @body) (property_delegate) @body]) @constant))])

; Behind an annotation the grammar reads `annotation class A`, `enum class A { … }` and `const val A` as expressions
((infix_expression . (identifier) @_word . (identifier) @_class . [(identifier) @name (call_expression . (identifier) @name . (_) @body)]) @class
  (#any-of? @_word "annotation" "enum" "data" "value") (#eq? @_class "class"))
((assignment
    left: (annotated_expression (infix_expression . (identifier) @_word . (identifier) @_val . (identifier) @name))
    right: (_) @body) @constant
  (#eq? @_word "const") (#eq? @_val "val"))
(annotated_expression [(infix_expression) (annotated_expression)] @part) @whole

; Imports: a star takes everything
(import (qualified_identifier) @specifier "*"? @imported) @import
(package_header (qualified_identifier) @package)

; What stands above or beside code
[(annotation) (file_annotation)] @attribute
[(line_comment) (block_comment)] @comment
[(string_literal) (multiline_string_literal) (character_literal)] @string
