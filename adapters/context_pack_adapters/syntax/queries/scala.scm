; Definitions
(function_definition name: (_) @name body: (_)? @body) @function
(function_declaration name: (_) @name) @function
(class_definition name: (_) @name body: (_)? @body) @class
(object_definition name: (_) @name body: (_)? @body) @class
(package_object name: (_) @name body: (_)? @body) @class
(trait_definition name: (_) @name body: (_)? @body) @trait
(enum_definition name: (_) @name body: (_)? @body) @enum
(given_definition name: (_) @name body: (_)? @body) @class
(type_definition name: (_) @name) @type
(compilation_unit [(val_definition pattern: (identifier) @name value: (_) @body) (var_definition pattern: (identifier) @name value: (_) @body)] @constant)
(object_definition body: (template_body [(val_definition pattern: (identifier) @name value: (_) @body) (var_definition pattern: (identifier) @name value: (_) @body)] @constant))
(package_object body: (template_body [(val_definition pattern: (identifier) @name value: (_) @body) (var_definition pattern: (identifier) @name value: (_) @body)] @constant))

; Imports
(import_declaration path: (_) @specifier) @import
(package_clause name: (_) @package)

; What stands above or beside code
(annotation) @attribute
[(comment) (block_comment)] @comment
[(string) (interpolated_string)] @string
