; Definitions
(class_declaration name: (identifier) @name body: (_) @body) @class
(record_declaration name: (identifier) @name body: (_) @body) @class
(interface_declaration name: (identifier) @name body: (_) @body) @interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @interface
(enum_declaration name: (identifier) @name body: (_) @body) @enum
(annotation_type_element_declaration name: (identifier) @name) @method
(method_declaration name: (identifier) @name body: (_)? @body) @method
(constructor_declaration name: (identifier) @name body: (_) @body) @method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @method
(interface_body (constant_declaration declarator: (variable_declarator name: (identifier) @name value: (_) @body)) @constant)
(field_declaration
  (modifiers) @_modifiers declarator: (variable_declarator name: (identifier) @name value: (_) @body)
  (#match? @_modifiers "static") (#match? @_modifiers "final")) @constant

; Imports: "static" takes a member out of a class; a star takes everything
(import_declaration "static" [(scoped_identifier) (identifier)] @specifier (asterisk)? @imported (#set! how "static")) @import
(import_declaration [(scoped_identifier) (identifier)] @specifier (asterisk)? @imported) @import
(package_declaration [(scoped_identifier) (identifier)] @package)

; What stands above or beside code
[(marker_annotation) (annotation)] @attribute
[(line_comment) (block_comment)] @comment
[(string_literal) (character_literal)] @string
