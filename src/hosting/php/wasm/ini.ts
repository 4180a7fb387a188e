/** The settings of PHP that an operator chooses. */
export interface PhpLimits {
  readonly memoryLimitMb: number
  readonly uploadMaxMb: number
}

// exec and similar functions hang php-wasm forever. Links once let two instances out of their folder. dl loads code.
// prepend.php defines its own mail, popen, and pclose, which handle only mails, and a realpath without a stale cache.
export const disabledFunctions =
  'exec,shell_exec,system,passthru,popen,pclose,proc_open,pcntl_exec,symlink,link,mail,dl,realpath'

// php-wasm writes AVIF images of more than 512 × 512 pixels as empty files, and reports success. prepend.php does not
// offer the type.
const withoutAvif = `${disabledFunctions},imageavif,imagetypes,gd_info`

const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** A page up to this size leaves in one piece, with its head. */
const PAGE_BYTES = 512 << 10

const opcacheMb = 40
/** PHP's own code and tables, the compiled scripts' strings, and fragmented space between the used parts. */
const restMb = 120

/**
 * Returns the most memory for PHP as a whole. A site can raise its `memory_limit`, but not this. It covers what the
 * operator's settings allow a request, and the request's body.
 */
export const mostPhpBytes = ({ memoryLimitMb, uploadMaxMb }: PhpLimits): number =>
  (memoryLimitMb + uploadMaxMb + opcacheMb + restMb) << 20

/**
 * Returns the php.ini of every site. All of it is out of reach of ini_set, or harmless with it. It is Debian's
 * php.ini-production, except for what docs/design/php.md lists.
 */
export function phpIni(limits: PhpLimits): Record<string, string> {
  return {
    auto_prepend_file: '/stead/prepend.php',
    memory_limit: `${limits.memoryLimitMb}M`,
    upload_max_filesize: `${limits.uploadMaxMb}M`,
    post_max_size: `${limits.uploadMaxMb}M`,
    max_input_vars: '5000',
    // Cannot interrupt anything here. The parent ends a process that takes too long.
    max_execution_time: '0',
    max_input_time: '-1',
    disable_functions: withoutAvif,
    enable_dl: '0',
    // Neither runtime reads a site's own file, and the site's PHP log says so (`keep-platform.ts`).
    'user_ini.filename': '',
    allow_url_include: '0',
    expose_php: '0',
    display_errors: '0',
    display_startup_errors: '0',
    html_errors: '0',
    log_errors: '1',
    error_log: '/private/php-error.log',
    error_reporting: '22527', // E_ALL & ~E_DEPRECATED & ~E_STRICT
    // The page is complete when its head leaves, so headers about caching that are set late still count.
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
    // Nothing else of the site runs while PHP waits for another host.
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
    // In memory: PHP does not start if it cannot create this file, and a site with a full disk must stay readable.
    'opcache.lockfile_path': '/internal/shared',
  }
}

/**
 * Returns where compiled scripts are kept in files. Like those in memory, they are compared with their script's time.
 */
export const compiledIni = (folder: string): Readonly<Record<string, string>> => ({ 'opcache.file_cache': folder })

/** The differences for a command: a user reads its output, and it ends before opcache could help. */
export const commandIni: Readonly<Record<string, string>> = {
  display_errors: 'stderr',
  output_buffering: '0',
  implicit_flush: '1',
  register_argc_argv: '1',
  'opcache.enable': '0',
  'opcache.enable_cli': '0',
  // command.php defines its own functions with these names, which start no process.
  disable_functions: `${disabledFunctions},proc_close,proc_get_status,proc_terminate`,
}
