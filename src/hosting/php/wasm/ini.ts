/** The settings of PHP that an operator chooses. */
export interface PhpLimits {
  readonly memoryLimitMb: number
  readonly uploadMaxMb: number
}

// exec and its kin hang php-wasm for good; links are how two instances once got out of their folder; dl loads code.
// prepend.php has a mail, popen and pclose of its own, which know nothing but mails, and a realpath that believes nothing old.
export const disabledFunctions =
  'exec,shell_exec,system,passthru,popen,pclose,proc_open,pcntl_exec,symlink,link,mail,dl,realpath'

// php-wasm writes AVIF of more than 512 × 512 pixels as an empty file, and says that it went well: prepend.php offers none
const withoutAvif = `${disabledFunctions},imageavif,imagetypes,gd_info`

const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** A page up to here leaves in one piece, with its head. */
const PAGE_BYTES = 512 << 10

const opcacheMb = 40
/** PHP's own code and tables, the compiled scripts' strings, and what lies broken into pieces between the used parts. */
const restMb = 120

/**
 * What PHP's memory as a whole may come to. A site can lift its `memory_limit`, and nothing with it: there is room for what
 * a request may have by the operator's settings, and for the body that it came with.
 */
export const mostPhpBytes = ({ memoryLimitMb, uploadMaxMb }: PhpLimits): number =>
  (memoryLimitMb + uploadMaxMb + opcacheMb + restMb) << 20

/**
 * php.ini of every site. All of it is beyond ini_set's reach or harmless with it. It is Debian's php.ini-production, but for what
 * docs/design/php.md lists.
 */
export function phpIni(limits: PhpLimits): Record<string, string> {
  return {
    auto_prepend_file: '/stead/prepend.php',
    memory_limit: `${limits.memoryLimitMb}M`,
    upload_max_filesize: `${limits.uploadMaxMb}M`,
    post_max_size: `${limits.uploadMaxMb}M`,
    max_input_vars: '5000',
    // Cannot interrupt anything here: the parent ends a process that takes too long.
    max_execution_time: '0',
    max_input_time: '-1',
    disable_functions: withoutAvif,
    enable_dl: '0',
    // of a site's own: neither runtime reads them, and the site's PHP log says so (`keep-platform.ts`)
    'user_ini.filename': '',
    allow_url_include: '0',
    expose_php: '0',
    display_errors: '0',
    display_startup_errors: '0',
    html_errors: '0',
    log_errors: '1',
    error_log: '/private/php-error.log',
    error_reporting: '22527', // E_ALL & ~E_DEPRECATED & ~E_STRICT
    // a page is whole when its head leaves: what it says late of being kept counts
    output_buffering: String(PAGE_BYTES),
    implicit_flush: '0',
    default_charset: 'UTF-8',
    short_open_tag: '0',
    variables_order: 'GPCS',
    request_order: 'GP',
    register_argc_argv: '0',
    'zend.assertions': '-1',
    'zend.exception_ignore_args': '1',
    'zend.exception_string_param_max_len': '0',
    'session.sid_length': '26',
    'session.sid_bits_per_character': '5',
    'session.gc_divisor': '1000',
    'date.timezone': 'UTC',
    // Nothing else of the site runs while PHP waits for somebody.
    default_socket_timeout: '15',
    sys_temp_dir: '/tmp',
    upload_tmp_dir: '/tmp',
    'session.save_path': '/tmp',
    'openssl.cafile': certificates,
    'curl.cainfo': certificates,
    realpath_cache_size: '4096K',
    realpath_cache_ttl: '600',
    'opcache.enable': '1',
    'opcache.enable_cli': '1',
    'opcache.jit': '0',
    'opcache.memory_consumption': String(opcacheMb),
    'opcache.interned_strings_buffer': '6',
    'opcache.max_accelerated_files': '10000',
    'opcache.revalidate_freq': '0',
    'opcache.file_cache_only': '0',
    // in memory: PHP does not start where it cannot make this file, and a site whose disk is full must be read
    'opcache.lockfile_path': '/internal/shared',
  }
}

/** Where compiled scripts are kept in files. They are compared with their script's time, as those in memory. */
export const compiledIni = (folder: string): Readonly<Record<string, string>> => ({ 'opcache.file_cache': folder })

/** Where it differs for a command: somebody reads what it says, and it ends before opcache could be of use. */
export const commandIni: Readonly<Record<string, string>> = {
  display_errors: 'stderr',
  output_buffering: '0',
  implicit_flush: '1',
  register_argc_argv: '1',
  'opcache.enable': '0',
  'opcache.enable_cli': '0',
  // command.php has those of its own, which start no process
  disable_functions: `${disabledFunctions},proc_close,proc_get_status,proc_terminate`,
}
