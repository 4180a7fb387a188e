<?php
// Tells the host which pages of a site have changed, so that edges purge them. Loaded once a request, when something
// changes (see prepend.php). Uses only WordPress functions. An error in this file must never reach the site.

require_once __DIR__ . '/shown.php';

/** The outdated pages and files, collected during a request and reported once. */
final class Stead_Changes
{
    private const MOST_PATHS = 100;
    // Post types without a page, which are part of other pages.
    private const PARTS = [
        'nav_menu_item', 'wp_template', 'wp_template_part', 'wp_global_styles', 'wp_navigation', 'wp_block', 'custom_css',
        'wp_font_family', 'wp_font_face',
    ];
    private const OPTIONS = '/^(?:blog(?:name|description|_public|_charset)|home|siteurl|show_on_front|page_(?:on_front|for_posts|comments)|posts_per_(?:page|rss)|rss_use_excerpt|(?:date|time)_format|start_of_week|timezone_string|gmt_offset|WPLANG|permalink_structure|(?:category|tag)_base|template|stylesheet|sidebars_widgets|widget_.+|theme_mods_.+|nav_menu_options|sticky_posts|site_(?:icon|logo)|active_plugins|comments_per_page|default_comments_page|comment_(?:order|registration)|thread_comments(?:_depth)?|require_name_email|show_avatars|avatar_(?:default|rating)|close_comments_.+|use_smilies)$/';
    private const NOISE = '/^(?:_transient_|_site_transient_|cron$|rewrite_rules$|recently_|auto_|db_|finished_|_split_terms|dismissed_|can_compress_scripts$|user_count$|action_scheduler_|uninstall_plugins$|.*(?:_lock|_version|_nonce|_notices?|_count|_dismissed|_last_\w+|_time|_timestamp|_usage|_tracking)$)/';

    /** Tables of plugins that no page shows: visits, logs, and queues. */
    private const UNSEEN = '/session|(?:^|_)logs?(?:_|$)|stat(?:istic)?s?(?:_|$)|visit|hits?(?:_|$)|views?(?:_|$)|counter|queue|jobs?(?:_|$)|action_?scheduler|transient|temp|tmp|audit|activity|404|lock|token|nonce|firewall|(?:^|_)wf|indexable|yoast|orders?(?:_|$)|customer|admin_note|notification|e?mails?(?:_|$)|entries|entry|submissions?|backup|migrat/i';
    /** Post types that are not part of any page. */
    private const SILENT = '/^(?:revision|customize_changeset|oembed_cache|user_request|scheduled-action|shop_order.*|flamingo_.*|.*_(?:log|entry|submission|inbound))$/';
    /** Post meta in which WordPress keeps notes about editing. */
    private const SILENT_META = '/^_(?:edit_|wp_old_|wp_trash_|wp_attachment_|wp_attached_|encloseme|pingme|oembed_)/';

    private bool $all = false;
    private bool $files = false;
    /** Whether WooCommerce was activated, deactivated, or deleted, so that the host lists the plugins again. */
    private bool $shop = false;
    /** Whether plugins, themes, or their updates have changed, so that the host lists them again. */
    private bool $extensions = false;
    /**
     * Set when an editor of the site has written something that no rule covers. If nothing finer is known, everything
     * is outdated.
     */
    private bool $wrote = false;
    /** A post of a plugin's own type, such as a product, has changed. Other pages may show it: price tables, offers, calendars. */
    private bool $elsewhere = false;
    /** @var array<string, true> */
    private array $paths = [];
    /** @var array<string, true> Paths of files. Unlike pages, files do not become outdated because all pages are. */
    private array $filePaths = [];

    /** Records that a hook fired, with its arguments. */
    public function note(string $hook, array $args): void
    {
        switch ($hook) {
            case 'post_updated':
                $this->postUpdated($args[1], $args[2]);
                break;
            case 'transition_post_status':
                if ($args[0] !== $args[1] && in_array('publish', [$args[0], $args[1]], true)) {
                    $this->post($args[2], true);
                }
                break;
            case 'before_delete_post':
                $post = get_post($args[0]);
                if ($post && $post->post_status === 'publish') {
                    $this->post($post, true);
                }
                break;
            case 'delete_attachment':
                $this->files = true;
                break;
            case 'set_object_terms':
                $this->terms((int) $args[0], (string) $args[3], array_merge((array) $args[2], (array) $args[5]));
                break;
            case 'added_post_meta':
            case 'updated_post_meta':
            case 'deleted_post_meta':
                if (in_array($args[2], ['_thumbnail_id', '_wp_page_template', '_wp_attachment_image_alt'], true)) {
                    $this->postById((int) $args[1]);
                } elseif ($hook === 'updated_post_meta' && in_array($args[2], ['_wp_attached_file', '_wp_attachment_metadata'], true)) {
                    $this->media((int) $args[1]);
                } elseif (!preg_match(self::SILENT_META, (string) $args[2]) && $this->isAction()) {
                    $this->metaOf((int) $args[1]);
                }
                break;
            case 'stead_purge':
            case 'litespeed_purge_post':
            case 'cache_enabler_clear_page_cache_by_post':
                $this->order($args[0] ?? null);
                break;
            case 'wp_insert_comment':
            case 'delete_comment':
                $this->comment(get_comment($args[0]));
                break;
            case 'edit_comment':
                $this->comment(get_comment($args[0]));
                break;
            case 'transition_comment_status':
                if ($args[0] === 'approved' || $args[1] === 'approved') {
                    $this->comment($args[2], true);
                }
                break;
            case 'woocommerce_updated_product_stock':
            case 'woocommerce_product_set_stock_status':
                $this->postById((int) $args[0]);
                break;
            case 'added_option':
                $this->updates((string) $args[0], null, $args[1] ?? null);
                // The first page that is shown creates an empty option for every type of widget.
                if (!(str_starts_with((string) $args[0], 'widget_') && ($args[1] ?? null) === ['_multiwidget' => 1])) {
                    $this->option((string) $args[0]);
                }
                break;
            case 'updated_option':
                $this->updates((string) $args[0], $args[1] ?? null, $args[2] ?? null);
                $this->option((string) $args[0]);
                break;
            case 'deleted_option':
                $this->option((string) $args[0]);
                break;
            case 'deleted_theme':
                $this->extensions = true;
                break;
            case 'profile_update':
            case 'delete_user':
                $this->all = $this->all || user_can((int) $args[0], 'edit_posts');
                break;
            case 'activated_plugin':
            case 'deactivated_plugin':
            case 'deleted_plugin':
                $this->shop = $this->shop || str_starts_with((string) $args[0], 'woocommerce/');
                // fall through
            case 'upgrader_process_complete':
            case '_core_updated_successfully':
            case 'wp_ajax_edit-theme-plugin-file':
            case 'switch_theme':
                $this->all = true;
                $this->files = true;
                $this->extensions = true;
                break;
            default:
                $this->all = true;
        }
    }

    private function postUpdated(WP_Post $after, WP_Post $before): void
    {
        if (!is_post_type_viewable($after->post_type) && !in_array($after->post_type, self::PARTS, true)) {
            $this->hidden($after);
            return;
        }
        if ($after->post_status !== 'publish' && $before->post_status !== 'publish') {
            return;
        }
        $named = ['post_status', 'post_title', 'post_name', 'post_parent', 'menu_order', 'post_date', 'post_author'];
        $isNamedAnew = false;
        foreach ($named as $field) {
            $isNamedAnew = $isNamedAnew || $after->$field !== $before->$field;
        }
        if ($before->post_status === 'publish') {
            $this->post($before, $isNamedAnew);
        }
        $this->post($after, $isNamedAnew);
    }

    private function postById(int $id): void
    {
        $post = get_post($id);
        if ($post && $post->post_status === 'publish') {
            $this->post($post, false);
        } elseif ($post && $post->post_type === 'attachment') {
            $this->all = true;
        }
    }

    /** Handles a post without a page: a form, a table, a field. It is unknown which pages show it. */
    private function hidden(WP_Post $post): void
    {
        if (!preg_match(self::SILENT, $post->post_type) && !in_array($post->post_status, ['auto-draft', 'draft'], true)) {
            $this->wrote = $this->wrote || $this->isAction();
        }
    }

    private function metaOf(int $id): void
    {
        $post = get_post($id);
        if ($post && $post->post_status === 'publish' && is_post_type_viewable($post->post_type)) {
            $this->post($post, false);
        } elseif ($post && $post->post_type !== 'attachment') {
            $this->hidden($post);
        }
    }

    /** Handles a replaced media file, or one with new sizes. All files with its name are outdated. */
    private function media(int $id): void
    {
        $path = $this->path(wp_get_attachment_url($id));
        if ($path !== null) {
            $this->addFile(preg_replace('/\.[^.\/]*$/', '', $path) . '*');
        }
    }

    /** Handles a request of a plugin or theme to purge a post by its ID, addresses, or everything. */
    private function order($what): void
    {
        foreach (is_array($what) ? $what : [$what] as $each) {
            if ($each instanceof WP_Post || (is_numeric($each) && (int) $each > 0)) {
                $post = get_post($each);
                $this->all = $this->all || !$post;
                $post && $this->post($post, false);
            } elseif (is_string($each) && preg_match('~^(?:/|https?://)~', $each)) {
                $path = (string) $this->path($each);
                str_contains($path, '/wp-content/') ? $this->addFile($path) : $this->add($path);
            } else {
                $this->all = true;
            }
        }
    }

    /** Returns whether the request changes something, and is not one that browsers send automatically. */
    private function isAction(): bool
    {
        $isRead = in_array($_SERVER['REQUEST_METHOD'] ?? 'GET', ['GET', 'HEAD'], true) && !isset($_GET['_wpnonce']);
        return !$isRead && ($_POST['action'] ?? '') !== 'heartbeat';
    }

    /** Records a statement that writes. WordPress hooks report what WordPress writes into its own tables. */
    public function wrote(string $query): void
    {
        if ($this->wrote || $this->all) {
            return;
        }
        $verb = '(?:INSERT|REPLACE)(?:\s+\w+)*?\s+INTO|UPDATE(?:\s+IGNORE|\s+LOW_PRIORITY)*|DELETE(?:\s+\w+)*?\s+FROM|TRUNCATE(?:\s+TABLE)?';
        if (!preg_match("/^\\s*(?:$verb)\\s+`?(\\w+)/i", $query, $match)) {
            return;
        }
        global $wpdb;
        $table = $match[1];
        if (in_array($table, $wpdb->tables('all'), true)) {
            $isShown = !in_array($table, [$wpdb->users, $wpdb->usermeta, $wpdb->comments, $wpdb->commentmeta], true);
            $isNoise = preg_match('/_transient\\\\?_|_session|_edit_l|[\'"`](?:cron|rewrite_rules)[\'"`]/', substr($query, 0, 2000));
            $this->wrote = $isShown && !$isNoise && !$this->isAskedByCore();
            return;
        }
        $this->wrote = !preg_match(self::UNSEEN, preg_replace('/^' . preg_quote($wpdb->base_prefix, '/') . '(?:\d+_)?/', '', $table));
    }

    private function isAskedByCore(): bool
    {
        $between = '~/wp-includes/(?:class-wp-hook|plugin|class-wpdb)\.php$|/sqlite-database-integration/|^/stead/~';
        foreach (debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 20) as $frame) {
            $file = $frame['file'] ?? '';
            if ($file !== '' && !preg_match($between, $file)) {
                return str_starts_with($file, ABSPATH . WPINC) || str_starts_with($file, ABSPATH . 'wp-admin/');
            }
        }
        return false;
    }

    /** @param bool $isListed whether the post is new in lists, or looks different there */
    private function post(WP_Post $post, bool $isListed): void
    {
        if ($this->all) {
            return;
        }
        if (in_array($post->post_type, self::PARTS, true)) {
            $this->all = true;
            return;
        }
        if (!is_post_type_viewable($post->post_type)) {
            $this->hidden($post);
            return;
        }
        // Menus list pages. "More posts" of block themes and list widgets are on every page.
        if ($isListed && ($post->post_type === 'page' || wp_is_block_theme() || $this->hasListWidgets())) {
            $this->all = true;
            return;
        }
        $this->elsewhere = $this->elsewhere || (!in_array($post->post_type, ['post', 'page', 'attachment'], true) && $this->isAction());
        $this->below(get_permalink($post));
        $this->lists();
        $this->archive(get_post_type_archive_link($post->post_type));
        $this->archive(get_author_posts_url((int) $post->post_author));
        $this->dates($post);
        foreach (get_object_taxonomies($post->post_type) as $taxonomy) {
            if (is_taxonomy_viewable($taxonomy)) {
                foreach (wp_get_object_terms($post->ID, $taxonomy, ['fields' => 'ids']) as $term) {
                    $this->term((int) $term, $taxonomy);
                }
            }
        }
        if ($isListed) {
            $this->neighbours($post);
        }
    }

    /** Marks whatever lists posts: front page, posts page, feeds, sitemap, REST API. */
    private function lists(): void
    {
        $this->archive(home_url('/'));
        $postsPage = (int) get_option('page_for_posts');
        if ($postsPage > 0) {
            $this->archive(get_permalink($postsPage));
        }
        $home = $this->path(home_url('/'));
        foreach (['comments/feed*', 'wp-sitemap*', 'wp-json/*'] as $rest) {
            $this->add($home . $rest);
        }
    }

    private function dates(WP_Post $post): void
    {
        [$year, $month, $day] = array_map('intval', explode('-', substr($post->post_date, 0, 10)));
        $this->archive(get_year_link($year));
        $this->archive(get_month_link($year, $month));
        $this->archive(get_day_link($year, $month, $day));
    }

    private function term(int $id, string $taxonomy): void
    {
        foreach (array_merge([$id], get_ancestors($id, $taxonomy, 'taxonomy')) as $each) {
            $link = get_term_link((int) $each, $taxonomy);
            if (is_string($link)) {
                $this->archive($link);
            }
        }
    }

    /** @param array<int> $termTaxonomyIds from before and after the change */
    private function terms(int $postId, string $taxonomy, array $termTaxonomyIds): void
    {
        if (get_post_status($postId) !== 'publish' || !is_taxonomy_viewable($taxonomy)) {
            return;
        }
        foreach (array_unique($termTaxonomyIds) as $id) {
            $term = get_term_by('term_taxonomy_id', (int) $id, $taxonomy);
            if ($term) {
                // Lists of several terms are purged with the front page.
                $this->add($this->path(home_url('/')));
                $this->term($term->term_id, $taxonomy);
            }
        }
    }

    private function comment(?WP_Comment $comment, bool $isChange = false): void
    {
        if (!$comment || (!$isChange && $comment->comment_approved !== '1')) {
            return;
        }
        $post = get_post((int) $comment->comment_post_ID);
        if ($post && $post->post_status === 'publish') {
            $this->below(get_permalink($post));
            $this->lists();
            $this->all = $this->all || $this->hasListWidgets();
        }
    }

    private function neighbours(WP_Post $post): void
    {
        $before = $GLOBALS['post'] ?? null;
        $GLOBALS['post'] = $post;
        foreach ([true, false] as $isPrevious) {
            $neighbour = get_adjacent_post(false, '', $isPrevious);
            if ($neighbour instanceof WP_Post) {
                $this->below(get_permalink($neighbour));
            }
        }
        $GLOBALS['post'] = $before;
    }

    private function hasListWidgets(): bool
    {
        foreach ((array) get_option('sidebars_widgets') as $sidebar => $widgets) {
            if ($sidebar === 'wp_inactive_widgets' || !is_array($widgets)) {
                continue;
            }
            foreach ($widgets as $widget) {
                if (!preg_match('/^(?:search|text|custom_html|media_\w+|nav_menu|meta|rss)-\d+$/', (string) $widget)
                    && !$this->isPlainBlock((string) $widget)) {
                    return true;
                }
            }
        }
        return false;
    }

    private function isPlainBlock(string $widget): bool
    {
        if (!preg_match('/^block-(\d+)$/', $widget, $match)) {
            return false;
        }
        $content = ((array) get_option('widget_block'))[(int) $match[1]]['content'] ?? '';
        return !preg_match('/wp:(?!paragraph|heading|image|group|columns?|search|html|list|spacer|separator|button)/', $content);
    }

    private function option(string $name): void
    {
        if (preg_match(self::OPTIONS, $name)) {
            $this->all = true;
            return;
        }
        if (preg_match(self::NOISE, $name)) {
            return;
        }
        // Options of plugins have any name. These are the ones that a user saves on a dashboard page or with its
        // script.
        $isSaved = is_admin() && !wp_doing_ajax() && ($_SERVER['REQUEST_METHOD'] ?? '') === 'POST';
        $this->all = $this->all || $isSaved;
        $this->wrote = $this->wrote || $this->isAction();
    }

    /** Handles the settings of automatic updates, and what WordPress knows of updates. No page shows them. */
    private function updates(string $name, $before, $after): void
    {
        $this->extensions = $this->extensions
            || in_array($name, ['auto_update_plugins', 'auto_update_themes'], true)
            || (in_array($name, ['_site_transient_update_plugins', '_site_transient_update_themes'], true)
                && $this->offers($before) !== $this->offers($after));
    }

    /** @return array<string> the available versions by file or folder, without the time of the check */
    private function offers($known): array
    {
        $offers = array_map(static fn ($offer) => ((array) $offer)['new_version'] ?? '', (array) ($known->response ?? []));
        ksort($offers);
        return $offers;
    }

    /** Marks a page and everything below its address: further pages, comment pages, feed. */
    private function below($url): void
    {
        $path = $this->path($url);
        if ($path === null) {
            return;
        }
        $this->add($path);
        if ($path !== $this->path(home_url('/'))) {
            $this->add(trailingslashit($path) . '*');
        }
    }

    /** Marks a list, its further pages, and its feed. */
    private function archive($url): void
    {
        $path = $this->path($url);
        if ($path !== null) {
            $this->add($path);
            $this->add(trailingslashit($path) . 'page/*');
            $this->add(trailingslashit($path) . 'feed*');
        }
    }

    private function path($url): ?string
    {
        return is_string($url) ? stead_path($url) : null;
    }

    private function add(string $path): void
    {
        $this->paths[$path] = true;
        $this->all = $this->all || count($this->paths) > self::MOST_PATHS;
    }

    private function addFile(string $path): void
    {
        $this->filePaths[$path] = true;
        $this->files = $this->files || count($this->filePaths) > self::MOST_PATHS;
    }

    /** Returns whether the user can edit posts. Users who only comment or buy cannot. */
    private function isEditor(): bool
    {
        return function_exists('current_user_can') && did_action('init') && current_user_can('edit_posts');
    }

    /** Reports what was collected since the last report, if anything. */
    public function tell(): void
    {
        $isKnown = $this->all || $this->files || $this->extensions || $this->paths !== [] || $this->filePaths !== [];
        $isSoft = !$this->all && ($this->elsewhere || ($this->wrote && $this->paths === [])) && $this->isEditor();
        $paths = $this->all ? [] : array_keys($this->paths);
        $filePaths = $this->files ? [] : array_keys($this->filePaths);
        $marks = ['all' => $this->all, 'files' => $this->files, 'shop' => $this->shop, 'extensions' => $this->extensions];
        $known = $marks + ['paths' => $paths, 'filePaths' => $filePaths];
        $this->wrote = false;
        $this->elsewhere = false;
        $this->all = false;
        $this->files = false;
        $this->shop = false;
        $this->extensions = false;
        $this->paths = [];
        $this->filePaths = [];
        if ($isKnown) {
            $this->say($known);
        }
        // nobody knows whether it shows: a few seconds may go by
        if ($isSoft) {
            $this->say(['all' => true, 'soft' => true]);
        }
    }

    private function say(array $change): void
    {
        post_message_to_js(json_encode(['changed' => $change], JSON_INVALID_UTF8_SUBSTITUTE));
    }
}
