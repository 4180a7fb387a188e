/** The version of Apache that Stead emulates for a `.htaccess`. */
export const VERSION = [2, 4, 62]

/**
 * Modules whose directives Stead applies, or that have no effect here. The content of `<IfModule>` for any other module
 * is skipped.
 */
const LOADED = new Set([
  'access_compat',
  'alias',
  'auth_basic',
  'authn_core',
  'authn_file',
  'authz_core',
  'authz_host',
  'authz_user',
  'autoindex',
  'deflate',
  'brotli',
  'dir',
  'env',
  'expires',
  'filter',
  'headers',
  'mime',
  'negotiation',
  'rewrite',
  'setenvif',
  'so',
  'core',
  'version',
])

/** @param name `mod_rewrite.c` or `rewrite_module` */
export const isLoaded = (name: string): boolean =>
  LOADED.has(
    name
      .trim()
      .replace(/^["']|["']$/g, '')
      .toLowerCase()
      .replace(/^mod_|_module$|\.c$/g, ''),
  )

/**
 * Directives that do not affect who gets which content: speed, compression, PHP settings. They are ignored silently.
 */
const HARMLESS = new Set([
  'acceptpathinfo',
  'addcharset',
  'adddefaultcharset',
  'adddescription',
  'addencoding',
  'addicon',
  'addiconbyencoding',
  'addiconbytype',
  'addlanguage',
  'addoutputfilter',
  'addoutputfilterbytype',
  'allowencodedslashes',
  'brotlicompressionquality',
  'contentdigest',
  'defaulticon',
  'defaultlanguage',
  'defaulttype',
  'deflatecompressionlevel',
  'directorycheckhandler',
  'directoryindexredirect',
  'enablemmap',
  'enablesendfile',
  'fallbackresource',
  'fileetag',
  'filterdeclare',
  'filterchain',
  'filterprotocol',
  'filterprovider',
  'forcelanguagepriority',
  'headername',
  'indexignore',
  'indexignorereset',
  'indexoptions',
  'indexorderdefault',
  'languagepriority',
  'limitrequestbody',
  'modmimeusepathinfo',
  'multiviewsmatch',
  'passenv',
  'php_admin_value',
  'php_value',
  'readmename',
  'removecharset',
  'removeencoding',
  'removelanguage',
  'removeoutputfilter',
  'serversignature',
  'setoutputfilter',
  'suphp_configpath',
  'authmerging',
  'authzsendforbiddenonfailure',
])

export const isHarmless = (directive: string): boolean => HARMLESS.has(directive) && directive !== 'authmerging'
