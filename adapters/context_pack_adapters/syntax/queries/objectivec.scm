; What Objective-C adds to c.scm. A method is called by the first word of its selector.

; Definitions; an interface counts where its implementation is elsewhere, a category only adds to its class
(class_implementation . (identifier) @name !category !superclass . [(_) "@end"] @body) @class
(class_implementation . (identifier) @name !category superclass: (_) . [(_) "@end"] @body) @class
(class_interface . (identifier) @name !category !superclass . [(_) "@end"] @body) @class @prototype
(class_interface . (identifier) @name !category superclass: (_) . [(_) "@end"] @body) @class @prototype
(class_implementation . (identifier) @name category: (_)) @scope
(class_interface . (identifier) @name category: (_)) @scope
(protocol_declaration . (identifier) @name . [(_) "@end"] @body) @interface
(method_definition . (method_type)? . (identifier) @name (compound_statement) @body) @method
(method_declaration . (method_type)? . (identifier) @name) @method @prototype
((macro_type_specifier name: (identifier) @_macro (ERROR (identifier) @name)) @enum
  (#match? @_macro "^(NS|CF)_[A-Z_]*(ENUM|OPTIONS)$"))

; Imports: "module" is no file
(module_import (#set! how "module")) @specifier @import
((ERROR "#import" .) @import . [(string_literal) (system_lib_string)] @specifier)
