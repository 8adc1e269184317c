; Definitions
(function_declaration name: (_) @name body: (_)? @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (generic_type type: (type_identifier) @owner)
    (pointer_type [(type_identifier) @owner (generic_type type: (type_identifier) @owner)])]))
  name: (_) @name
  body: (_)? @body) @method
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @struct
(type_spec name: (_) @name type: (interface_type "{" @body)) @interface
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @type
(type_declaration . (type_spec name: (_) @name) .) @type
(type_declaration . (type_alias name: (_) @name) .) @type
(interface_type (method_elem name: (_) @name) @method)

; Constants and variables at the top; one that stands alone is its whole declaration
(source_file (const_declaration (const_spec (identifier) @name value: (_)? @body) @constant))
(source_file (const_declaration . (const_spec (identifier) @name) .) @constant)
(source_file (var_declaration (var_spec name: (identifier) @name value: (_)? @body) @constant))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name value: (_)? @body) @constant)))
(source_file (var_declaration . (var_spec name: (identifier) @name) .) @constant)

; Imports
(import_spec path: (_) @specifier) @import
(package_clause (package_identifier) @package)

; What stands above or beside code
(comment) @comment
[(interpreted_string_literal) (raw_string_literal) (rune_literal)] @string
