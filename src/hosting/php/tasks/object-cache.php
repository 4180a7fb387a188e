<?php
// A persistent object cache for WordPress: WP_Object_Cache and the functions of wp-includes/cache.php. prepend.php
// requires it if the site has no drop-in. It lives in the memory of the site's only PHP process (/stead-cache is not a
// folder of the machine). So it cannot outlive what a crash left unfinished, and no other process can change its
// contents. Each group is one file: key → [expires, serialized value]. A value is unserialized when it is requested,
// because its class is loaded by then. Code that writes the site's database without WordPress must flush the cache
// (wp_cache_flush).

const STEAD_CACHE_FOLDER = '/stead-cache';
/**
 * Exists while a request has replaced a stored value and has not stored its new one. If a start finds it, all is
 * dropped.
 */
const STEAD_CACHE_MARKER = STEAD_CACHE_FOLDER . '/unsaved';
/** A group that grows larger than this is dropped: WordPress leaves results of old queries behind. */
const STEAD_CACHE_GROUP_BYTES = 1 << 20;
const STEAD_CACHE_BYTES = 16 << 20;

#[AllowDynamicProperties]
class WP_Object_Cache
{
    public $cache_hits = 0;
    public $cache_misses = 0;
    public $blog_prefix;
    public $multisite;
    protected $global_groups = [];
    private $passing_groups = [];
    /** The values that this request has seen, by group and key. */
    private $values = [];
    /** The contents of the files, by group and key: [expires (Unix time, 0 for never), serialized]. */
    private $stored = [];
    /** The expiry times of the values to store, by group and key. */
    private $pending = [];
    private $changed = [];
    private $is_marked = false;
    private $is_outdated = false;

    public function __construct()
    {
        $this->multisite = is_multisite();
        $this->blog_prefix = $this->multisite ? get_current_blog_id() . ':' : '';
        if (file_exists(STEAD_CACHE_MARKER)) {
            $this->drop_files();
        }
        // A request that ends early may not reach wp_cache_close.
        register_shutdown_function([$this, 'close']);
    }

    public function add($key, $data, $group = 'default', $expire = 0)
    {
        if (wp_suspend_cache_addition() || $this->find($key, $group)[0]) {
            return false;
        }
        return $this->set($key, $data, $group, $expire);
    }

    public function replace($key, $data, $group = 'default', $expire = 0)
    {
        return $this->find($key, $group)[0] ? $this->set($key, $data, $group, $expire) : false;
    }

    public function set($key, $data, $group = 'default', $expire = 0)
    {
        if (!$this->is_valid($key)) {
            return false;
        }
        [$id, $group] = $this->place($key, $group);
        $this->values[$group][$id] = is_object($data) ? clone $data : $data;
        if (!isset($this->passing_groups[$group])) {
            $this->forget($id, $group);
            $this->pending[$group][$id] = $expire > 0 ? time() + (int) $expire : 0;
            $this->changed[$group] = true;
        }
        return true;
    }

    public function get($key, $group = 'default', $force = false, &$found = null)
    {
        [$found, $value] = $this->find($key, $group);
        $found ? $this->cache_hits++ : $this->cache_misses++;
        return is_object($value) ? clone $value : $value;
    }

    public function get_multiple($keys, $group = 'default', $force = false)
    {
        $values = [];
        foreach ($keys as $key) {
            $values[$key] = $this->get($key, $group, $force);
        }
        return $values;
    }

    public function delete($key, $group = 'default', $deprecated = false)
    {
        if (!$this->find($key, $group)[0]) {
            return false;
        }
        [$id, $group] = $this->place($key, $group);
        unset($this->values[$group][$id], $this->pending[$group][$id]);
        $this->forget($id, $group);
        return true;
    }

    public function incr($key, $offset = 1, $group = 'default')
    {
        [$found, $value] = $this->find($key, $group);
        if (!$found) {
            return false;
        }
        [$id, $place] = $this->place($key, $group);
        $expires = $this->pending[$place][$id] ?? $this->stored[$place][$id][0] ?? 0;
        $value = max(0, (is_numeric($value) ? $value : 0) + (int) $offset);
        $this->set($key, $value, $group, $expires > 0 ? max(1, $expires - time()) : 0);
        return $value;
    }

    public function decr($key, $offset = 1, $group = 'default')
    {
        return $this->incr($key, -(int) $offset, $group);
    }

    public function flush()
    {
        $this->values = $this->pending = $this->changed = [];
        $this->drop_files();
        return true;
    }

    public function flush_runtime()
    {
        // A value that is not stored yet does not belong to this request only.
        foreach ($this->values as $group => $values) {
            $this->values[$group] = array_intersect_key($values, $this->pending[$group] ?? []);
        }
        return true;
    }

    public function flush_group($group)
    {
        $this->mark();
        $this->values[$group] = $this->stored[$group] = $this->pending[$group] = [];
        $this->changed[$group] = true;
        return true;
    }

    public function add_global_groups($groups)
    {
        $this->global_groups += array_fill_keys((array) $groups, true);
    }

    public function add_non_persistent_groups($groups)
    {
        $this->passing_groups += array_fill_keys((array) $groups, true);
    }

    public function switch_to_blog($blog_id)
    {
        $this->blog_prefix = $this->multisite ? (int) $blog_id . ':' : '';
    }

    public function reset()
    {
        _deprecated_function(__FUNCTION__, '3.5.0', 'WP_Object_Cache::switch_to_blog()');
    }

    public function stats()
    {
        echo "<p><strong>Cache hits:</strong> {$this->cache_hits}<br /><strong>Cache misses:</strong> {$this->cache_misses}</p>";
    }

    /**
     * Sees each query (filter of wpdb). Plugins that write into WordPress' tables without its functions often do not
     * inform the cache, because that goes unnoticed without a persistent one. Such a request drops the whole cache when
     * it ends.
     */
    public function see_query($query)
    {
        $is_write = !$this->is_outdated && preg_match('/^\s*(?:insert|update|delete|replace|truncate|alter|drop)\b/i', $query);
        if ($is_write && $this->names_core_table(substr($query, 0, 500)) && !$this->is_asked_by_core()) {
            $this->mark();
            $this->is_outdated = true;
        }
        return $query;
    }

    /** Stores what has changed. May be called more than once. */
    public function close()
    {
        if ($this->is_outdated) {
            $this->drop_files();
            $this->changed = [];
        }
        foreach (array_keys($this->changed) as $group) {
            $this->save((string) $group);
        }
        $this->changed = [];
        if ($this->is_marked) {
            @unlink(STEAD_CACHE_MARKER);
            $this->is_marked = false;
        }
        return true;
    }

    /** @return array{bool, mixed} whether the value exists, and the value; false if it does not, as in WordPress */
    private function find($key, $group)
    {
        if (!$this->is_valid($key)) {
            return [false, false];
        }
        [$id, $group] = $this->place($key, $group);
        if (isset($this->values[$group]) && array_key_exists($id, $this->values[$group])) {
            $expires = $this->pending[$group][$id] ?? 0;
            return $expires > 0 && $expires <= time() ? [false, false] : [true, $this->values[$group][$id]];
        }
        [$expires, $text] = $this->load($group)[$id] ?? [0, null];
        if ($text === null || $expires > 0 && $expires <= time()) {
            return [false, false];
        }
        $value = @unserialize($text);
        if ($value === false && $text !== 'b:0;') {
            return [false, false];
        }
        return [true, $this->values[$group][$id] = $value];
    }

    private function place($key, $group)
    {
        $group = (string) $group === '' ? 'default' : (string) $group;
        return [isset($this->global_groups[$group]) ? (string) $key : $this->blog_prefix . $key, $group];
    }

    private function is_valid($key)
    {
        if (is_int($key) || is_string($key) && trim($key) !== '') {
            return true;
        }
        _doing_it_wrong(__METHOD__, 'Cache key must be an integer or a non-empty string.', '6.1.0');
        return false;
    }

    private function forget($id, $group)
    {
        if (isset($this->passing_groups[$group]) || !isset($this->load($group)[$id])) {
            return;
        }
        $this->mark();
        unset($this->stored[$group][$id]);
        $this->changed[$group] = true;
    }

    private function &load($group)
    {
        if (!isset($this->stored[$group])) {
            $text = isset($this->passing_groups[$group]) ? false : @file_get_contents($this->file($group));
            $entries = $text === false ? false : @unserialize($text, ['allowed_classes' => false]);
            $this->stored[$group] = is_array($entries) ? $entries : [];
        }
        return $this->stored[$group];
    }

    private function save($group)
    {
        $entries = $this->load($group);
        foreach ($this->pending[$group] ?? [] as $id => $expires) {
            try {
                $entries[$id] = [$expires, serialize($this->values[$group][$id])];
            } catch (Throwable $unserializable) {
                unset($entries[$id]);
            }
        }
        $this->stored[$group] = $entries;
        unset($this->pending[$group]);
        $text = serialize($entries);
        if (strlen($text) > STEAD_CACHE_GROUP_BYTES) {
            $this->stored[$group] = [];
            @unlink($this->file($group));
            return;
        }
        if (!is_dir(STEAD_CACHE_FOLDER)) {
            mkdir(STEAD_CACHE_FOLDER, 0700);
        }
        if (@file_put_contents($this->file($group), $text) !== strlen($text)) {
            $this->drop_files();
        } elseif (array_sum(array_map('filesize', glob(STEAD_CACHE_FOLDER . '/*'))) > STEAD_CACHE_BYTES) {
            $this->drop_files();
        }
    }

    private function names_core_table($query)
    {
        foreach ($GLOBALS['wpdb']->tables('all') as $table) {
            if (stripos($query, $table) !== false) {
                return true;
            }
        }
        return false;
    }

    private function is_asked_by_core()
    {
        $between = '~/wp-includes/(?:class-wp-hook|plugin|class-wpdb)\.php$|/sqlite-database-integration/|^' . preg_quote(__FILE__, '~') . '$~';
        foreach (debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 20) as $frame) {
            $file = $frame['file'] ?? '';
            if ($file !== '' && !preg_match($between, $file)) {
                return str_starts_with($file, ABSPATH . WPINC) || str_starts_with($file, ABSPATH . 'wp-admin/');
            }
        }
        return false;
    }

    private function file($group)
    {
        return STEAD_CACHE_FOLDER . '/' . md5($group);
    }

    private function mark()
    {
        if (!$this->is_marked && is_dir(STEAD_CACHE_FOLDER)) {
            file_put_contents(STEAD_CACHE_MARKER, '');
            $this->is_marked = true;
        }
    }

    private function drop_files()
    {
        stead_drop_object_cache();
        $this->stored = [];
    }
}

function wp_cache_init()
{
    $GLOBALS['wp_object_cache'] = new WP_Object_Cache();
    add_filter('query', [$GLOBALS['wp_object_cache'], 'see_query'], PHP_INT_MAX);
    // Transients stay in the database. They outlive a process there, and WordPress would otherwise check for updates at
    // every start of one. A network asks for its caches a second time first, and would load its own.
    if (is_multisite()) {
        add_action('ms_loaded', static fn () => wp_using_ext_object_cache(false), PHP_INT_MIN);
    } else {
        wp_using_ext_object_cache(false);
    }
}

function wp_cache_add($key, $data, $group = '', $expire = 0)
{
    return $GLOBALS['wp_object_cache']->add($key, $data, $group, (int) $expire);
}

function wp_cache_add_multiple(array $data, $group = '', $expire = 0)
{
    $done = [];
    foreach ($data as $key => $value) {
        $done[$key] = wp_cache_add($key, $value, $group, $expire);
    }
    return $done;
}

function wp_cache_replace($key, $data, $group = '', $expire = 0)
{
    return $GLOBALS['wp_object_cache']->replace($key, $data, $group, (int) $expire);
}

function wp_cache_set($key, $data, $group = '', $expire = 0)
{
    return $GLOBALS['wp_object_cache']->set($key, $data, $group, (int) $expire);
}

function wp_cache_set_multiple(array $data, $group = '', $expire = 0)
{
    $done = [];
    foreach ($data as $key => $value) {
        $done[$key] = wp_cache_set($key, $value, $group, $expire);
    }
    return $done;
}

function wp_cache_get($key, $group = '', $force = false, &$found = null)
{
    return $GLOBALS['wp_object_cache']->get($key, $group, $force, $found);
}

function wp_cache_get_multiple($keys, $group = '', $force = false)
{
    return $GLOBALS['wp_object_cache']->get_multiple($keys, $group, $force);
}

function wp_cache_delete($key, $group = '')
{
    return $GLOBALS['wp_object_cache']->delete($key, $group);
}

function wp_cache_delete_multiple(array $keys, $group = '')
{
    $done = [];
    foreach ($keys as $key) {
        $done[$key] = wp_cache_delete($key, $group);
    }
    return $done;
}

function wp_cache_incr($key, $offset = 1, $group = '')
{
    return $GLOBALS['wp_object_cache']->incr($key, $offset, $group);
}

function wp_cache_decr($key, $offset = 1, $group = '')
{
    return $GLOBALS['wp_object_cache']->decr($key, $offset, $group);
}

function wp_cache_flush()
{
    return $GLOBALS['wp_object_cache']->flush();
}

function wp_cache_flush_runtime()
{
    return $GLOBALS['wp_object_cache']->flush_runtime();
}

function wp_cache_flush_group($group)
{
    return $GLOBALS['wp_object_cache']->flush_group($group);
}

function wp_cache_supports($feature)
{
    return in_array($feature, ['add_multiple', 'set_multiple', 'get_multiple', 'delete_multiple', 'flush_runtime', 'flush_group'], true);
}

function wp_cache_close()
{
    return $GLOBALS['wp_object_cache']->close();
}

function wp_cache_add_global_groups($groups)
{
    $GLOBALS['wp_object_cache']->add_global_groups($groups);
}

function wp_cache_add_non_persistent_groups($groups)
{
    $GLOBALS['wp_object_cache']->add_non_persistent_groups($groups);
}

function wp_cache_switch_to_blog($blog_id)
{
    $GLOBALS['wp_object_cache']->switch_to_blog($blog_id);
}

function wp_cache_reset()
{
    $GLOBALS['wp_object_cache']->reset();
}
