// Made from the OpenAPI document by npm run openapi: not to be changed by hand.
export interface paths {
    "/.well-known/oauth-authorization-server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the authorization server metadata
         * @description Returns the authorization server metadata of RFC 8414. All addresses use the host name of the request.
         *
         *     Requires no access token.
         */
        get: operations["getAuthorizationServer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the current session
         * @description Returns the account of the session. The control panel calls this when it opens. Each use extends the session to 30 days from now.
         *
         *     Requires a session of the control panel.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Sign in to the control panel
         * @description Starts a session and sets its cookie. On pages of this address, a session has the same rights as a token with the scope `owner`. Programs use `POST /auth/token` instead. If you use an authenticator app, also send its `code` or a recovery code. Stead limits the rate of wrong attempts.
         *
         *     Requires no access token.
         */
        post: operations["signIn"];
        /**
         * Sign out of the control panel
         * @description Ends the session of this request immediately on all hosts.
         *
         *     Requires a session of the control panel.
         */
        delete: operations["signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/passkey/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start signing in or confirming your identity with a passkey
         * @description Returns the options for `PublicKeyCredential.parseRequestOptionsFromJSON`. You can send the browser's answer once, within five minutes.
         *
         *     Requires no access token.
         */
        post: operations["beginPasskeySignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/passkey": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in to the control panel with a passkey
         * @description Works like `POST /v1/session`. Send the browser's answer to the options from `POST /v1/session/passkey/options`. You need no code, because the device has asked for a fingerprint, a face or a PIN.
         *
         *     Requires no access token.
         */
        post: operations["signInByPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/proof": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm your identity with your password
         * @description For the next 15 minutes, the session can run operations that cannot be undone or that return new secrets. Without the confirmation, these operations return 403 `proof_needed`.
         *
         *     Requires a session of the control panel.
         */
        post: operations["proveIdentity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/proof/passkey": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm your identity with a passkey
         * @description Works like `POST /v1/session/proof`. Send the browser's answer to the options from `POST /v1/session/passkey/options`. The passkey must belong to your account.
         *
         *     Requires a session of the control panel.
         */
        post: operations["proveByPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/password-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request a link to set a new password
         * @description Sends the link by mail if an account has this address. The response is the same if none does. The link works once and expires in one hour. Stead sends at most three links an hour to one address.
         *
         *     Requires no access token.
         */
        post: operations["requestPasswordLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/password-links/use": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a password with a link and sign in
         * @description Accepts a link from the first start, an invitation, or a mail about a lost password. Ends all sessions of the account and starts a new one. If you use an authenticator app, also send its `code`.
         *
         *     Requires no access token.
         */
        post: operations["usePasswordLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/password-links/passkey/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start adding a passkey with a link
         * @description Works like `POST /v1/passkeys/options` for people who have a link but no session. This request changes nothing and does not use up the link.
         *
         *     Requires no access token.
         */
        post: operations["beginPasskeyByLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/password-links/passkey": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a passkey with a link and sign in
         * @description Accepts any link that sets a password. An existing password stays valid. Ends all sessions of the account and starts a new one. If you use an authenticator app, send its `code` as well.
         *
         *     Requires no access token.
         */
        post: operations["createPasskeyByLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change your control panel password
         * @description Ends all other sessions of the account. If you forgot your password, request a link with `POST /v1/password-links`.
         *
         *     Requires an application with account owner permission (scope `owner`).
         */
        put: operations["changePassword"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Turn on sign-in with an authenticator app
         * @description From now on, you need a code to sign in. The response contains recovery codes, which Stead does not show again. Each recovery code works once in place of a code.
         *
         *     Requires an application with account owner permission (scope `owner`). In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        put: operations["confirmTotp"];
        /**
         * Start setting up an authenticator app
         * @description Returns a new secret. Nothing changes until you send a code to `PUT /v1/totp`. Each call replaces the secret of the previous call.
         *
         *     Requires an application with account owner permission (scope `owner`). In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        post: operations["beginTotp"];
        /**
         * Turn off sign-in with an authenticator app
         * @description From now on, you sign in with your password only. Stead deletes the recovery codes.
         *
         *     Requires an application with account owner permission (scope `owner`). In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        delete: operations["disableTotp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the passkeys of your account
         * @description Returns at most 20 passkeys, oldest first.
         *
         *     Requires an application with account owner permission (scope `owner`).
         */
        get: operations["listPasskeys"];
        put?: never;
        /**
         * Add a passkey
         * @description You can then sign in with the passkey instead of a password and code: the device asks for a fingerprint, a face or a PIN. A passkey works only on the host name where it was created.
         *
         *     Requires a session of the control panel. In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        post: operations["createPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/passkeys/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start adding a passkey
         * @description Returns the options for `PublicKeyCredential.parseCreationOptionsFromJSON`. Send the browser's answer to `POST /v1/passkeys` within five minutes. Until then, nothing changes.
         *
         *     Requires a session of the control panel. In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        post: operations["beginPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/passkeys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a passkey of your account
         * @description The passkey can no longer be used to sign in. Sessions that it started stay open. End them with `DELETE /v1/sessions/{id}`.
         *
         *     Requires an application with account owner permission (scope `owner`). In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        delete: operations["deletePasskey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sessions of your account
         * @description Returns up to 50 open sessions of the control panel, most recently used first.
         *
         *     Requires an application with account owner permission (scope `owner`).
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a session of your account
         * @description Signs out the browser that holds the session immediately. Use this for a lost or stolen device.
         *
         *     Requires an application with account owner permission (scope `owner`).
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/applications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API applications of your account
         * @description Returns up to 100 applications, ordered by id. The list does not include revoked applications or secrets.
         *
         *     Requires an application with account owner permission (scope `owner`).
         */
        get: operations["listApplications"];
        put?: never;
        /**
         * Create an API application
         * @description Returns a client id and a secret for `POST /auth/token`. Save the secret: Stead does not show it again.
         *
         *     Requires an application with account owner permission (scope `owner`). In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        post: operations["createApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/applications/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API application
         * @description All tokens of the application stop working immediately on all hosts. You cannot undo this.
         *
         *     Requires an application with account owner permission (scope `owner`). In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        delete: operations["revokeApplication"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the account */
        get: operations["getAccount"];
        /**
         * Update the defaults for new sites
         * @description Send at least one field. Existing sites do not change.
         */
        put: operations["updateAccount"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/addons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the available add-ons */
        get: operations["listAddons"];
        /**
         * Attach or detach an add-on
         * @description With the setting `STEAD_ADDONS=operator`, which is the default, only the account of the operator can raise a quantity. Every account can lower its own.
         *
         *     In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        put: operations["updateAddons"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/addons/attached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the add-ons of the account */
        get: operations["listAttachedAddons"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/branding": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the branding of your account
         * @description An addition of Stead. Returns the name, color, and logo of the reports for your clients, and of the mails with them.
         */
        get: operations["getBranding"];
        /**
         * Update the branding of your account
         * @description An addition of Stead. Send at least one field. Null restores the default.
         */
        put: operations["updateBranding"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/branding/logo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the logo of your account
         * @description An addition of Stead. Returns the picture as it was uploaded.
         */
        get: operations["getBrandingLogo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/brand/logo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the logo that the control panel shows you
         * @description An addition of Stead. Returns the logo of your account, or of the only account on whose sites you work.
         *
         *     Requires a session of the control panel.
         */
        get: operations["getBrandLogo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/logs/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get the activity log of the account
         * @description Returns changes to the account and its sites, newest first. Stead keeps entries for 60 days.
         */
        post: operations["listAccountActivity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get or follow recent activity
         * @description Returns the ten newest entries of the account's activity log. With `Accept: text/event-stream`, returns a stream of server-sent events that starts now, or after `Last-Event-ID`. The stream also contains entries of sites that the account collaborates on. The data of an `activity` event is an ActivityEntry with `account_id` and `site_id`. A `missed` event means that entries were skipped, so reload the list. An entry can arrive twice. The stream ends shortly after its token expires. An application can have 50 streams open at a time.
         */
        get: operations["listRecentActivity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/activity/account-actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the actions of the account log
         * @description Returns the actions in alphabetical order. They include the actions of sites, because the account log contains the entries of its sites.
         */
        get: operations["listAccountActions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/logs/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get the activity log of a site
         * @description Returns changes to the site, newest first. Stead keeps entries for 30 days.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        post: operations["listSiteActivity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/activity/site-actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the actions of site logs
         * @description Returns the actions in alphabetical order.
         */
        get: operations["listSiteActions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sites
         * @description Returns all sites that the caller can see, favourites first, then by name, unless you `sort` them. With `paginate`, returns one page.
         */
        get: operations["listSites"];
        put?: never;
        /**
         * Create a site
         * @description Returns a site in state `deploying`. Its state becomes `live` when it responds to visitors. Follow the progress with the operation in `Operation-Id`.
         *
         *     Any account can create its own sites. To create sites for another account, you need its permission.
         */
        post: operations["createSite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a site name
         * @description Always returns 200. `valid` tells whether the name is available, and `message` explains why not.
         */
        post: operations["validateSiteName"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search sites
         * @description Returns the sites that match all filters, favourites first, then by name, unless you `sort` them. `name` and `domain` match any part. `any` matches any part of a name, a display name, a domain, or a tag. `cms_version` (or `wordpress_version`) matches the start. `cloned_from` matches the clones of the site with this ID, `staging` is `true` or `false`, and `tag` is the name of one of your tags. Other filters match the exact value.
         */
        post: operations["searchSites"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/install-options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List install options */
        get: operations["listInstallOptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/datacenters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List datacenters */
        get: operations["listDatacenters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/php-versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List PHP versions */
        get: operations["listPhpVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a site
         * @description Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getSite"];
        /**
         * Update a site
         * @description Send at least one field. A new PHP version takes effect with the visitor's next request.
         *
         *     Requires the site's owner, or a collaborator with any role; `name`: the role `update_site_custom_name`; `php_version`: the role `update_site_php_version`; `wp_environment_type`: the role `manage_performance`.
         */
        put: operations["updateSite"];
        post?: never;
        /**
         * Delete a site
         * @description Removes the site from all lists immediately, and visitors get 404. Stead moves its files to the trash in the background. An operator can restore the site while it is in the trash.
         *
         *     Requires the site's owner, or a collaborator with the role `delete_site`. In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        delete: operations["deleteSite"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the status of a site
         * @description An addition of Stead. Returns what visitors of the site currently get, and why. The `state` of a site is its stage in its lifecycle. `GET /v1/sites/{id}` and lists of sites include the status with `?include=status`.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getSiteStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/runtime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Move a site to another runtime
         * @description Moves a site between native PHP with MariaDB and PHP in WebAssembly with SQLite. The site is closed during the move (503 with `Retry-After`). Stead copies the database, compares it table by table, and opens the site when WordPress responds. If anything fails, the site stays on its current runtime. Follow the progress with the operation in `Operation-Id`. To move the site back, send the other runtime.
         *
         *     Requires the site's owner, or a collaborator with the role `update_site_php_version`.
         */
        put: operations["moveSite"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Disable a site
         * @description Visitors get 480 Temporarily Unavailable on every path. The site still counts toward the plan.
         *
         *     Requires the site's owner, or a collaborator with the role `disable_site` and an application with the scope `owner`.
         */
        put: operations["disableSite"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Enable a site
         * @description Opens a disabled site to visitors again. Only disabled sites can be enabled.
         *
         *     Requires the site's owner, or a collaborator with the role `enable_site` and an application with the scope `owner`.
         */
        put: operations["enableSite"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/convert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Convert a site between live and staging
         * @description Changes `staging`, and with it the plan limit that the site counts against. The content, caches and environment type do not change. Remove all domains of a site before you convert it into a staging site.
         *
         *     Requires the site's owner, or a collaborator with the role `convert_site` and an application with the scope `owner`.
         */
        put: operations["convertSite"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/clone": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Clone a site
         * @description Returns a site in state `cloning`. Its state becomes `live` when it responds to visitors. The source stays open. The clone gets the files, database, PHP version and tags of the source, rewritten to its own address. It does not get domains, DNS records, collaborators, backups or notes. If the host of the source has no room or serves another datacenter, the clone is created on another host, from backups of the source. The clone belongs to the owner of the source and counts against that account's plan.
         *
         *     Requires the site's owner, or a collaborator with the role `clone_site`.
         */
        post: operations["cloneSite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/cms/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Reset the site owner's password
         * @description Sets a random password in WordPress and returns it. Ends all WordPress sessions of that user.
         *
         *     Requires the site's owner, or a collaborator with the role `wp_access`. In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        put: operations["resetAdminPassword"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/cms/safe-mode": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Turn safe mode on or off
         * @description In safe mode, WordPress starts without the plugins, must-use plugins, drop-ins and theme of the site, for visitors as well. It uses an installed default theme instead, and runs no scheduled events. The log-in page and the dashboard work without a theme. Safe mode changes nothing in the site. You can deactivate plugins in the dashboard. The response arrives when the change is active and the cached pages are purged. `safeMode` of `GET /v1/sites/{id}/status` shows whether safe mode is on.
         *
         *     Requires the site's owner, or a collaborator with the role `wp_access`.
         */
        put: operations["setSafeMode"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search sites and people
         * @description Returns the sites that you can see, and the people who collaborate on your sites. Each word of `q` must begin a word of the result: of a name, display name, domain or tag of a site, or of a name or e-mail address of a person. Case and accents do not matter. Exact words come first. For any part of a word, use `POST /v1/sites/search`.
         */
        get: operations["search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/zones": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the DNS zones
         * @description Returns the zones of your account in alphabetical order, and zones of other accounts if you have the role `manage_dns` on all sites that they point to.
         */
        get: operations["listZones"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/zones/{zone_id}/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a DNS zone with its records
         * @description Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.
         */
        get: operations["getZone"];
        put?: never;
        /**
         * Add a DNS record
         * @description Returns the zone with all records. An A record with `site_id` adds its name to the site as a domain. Without `value`, it gets the addresses of the edge. Stead merges a second SPF record into the first one of the same name. Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.
         */
        post: operations["createDnsRecord"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/zones/{zone_id}/records/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a DNS record
         * @description Returns the zone with the remaining records. If you delete the last record of a domain, the site loses the domain. If that was the primary domain, the site returns to its address under the staging domain. Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.
         */
        delete: operations["deleteDnsRecord"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/zones/{zone_id}/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add the records of a mail provider
         * @description Adds MX, SPF and other records that the provider requires. The activity log names records that you find only in the provider's administration, such as DKIM and proof of ownership. Stead replaces the records of another of these providers and extends an existing SPF record. If the provider is already set up, nothing changes. Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.
         */
        post: operations["applyMailProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/zones/{zone_id}/records/{id}/ssl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the SSL details of an A record
         * @description Returns the certificate of the name. If Stead could not request one yet, returns only `broken_record` and `broken_check` with the reason. Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.
         */
        get: operations["getSsl"];
        /**
         * Retry the certificate for an A record
         * @description Starts an operation that requests the certificate again. `force_ssl` is an addition of Stead: it redirects visitors of the name to https once it has a certificate. Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.
         */
        put: operations["retrySsl"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/zones/{zone_id}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a DNS zone as a zone file
         * @description An addition of Stead. Returns the records as a zone file (RFC 1035 §5), which other name servers and `PUT` of the same path can read. For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.
         */
        get: operations["exportZone"];
        /**
         * Add the records of a zone file
         * @description An addition of Stead. Reads a zone file (RFC 1035 §5, as BIND writes it) and adds the records that the zone does not have yet. It removes nothing. Stead skips lines that it cannot add, and lists them in `leftOut` with the reason. With `strict`, such a line makes it refuse the file. It always skips SOA and NS records of the zone itself, which the name server sets. `POST /v1/zones/{zone_id}/file/preview` shows the same without a change. Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.
         */
        put: operations["importZone"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/zones/{zone_id}/file/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview the import of a zone file
         * @description An addition of Stead. Returns what `PUT /v1/zones/{zone_id}/file` would add from a file, what it would leave out, and why. Nothing changes.
         */
        post: operations["previewZoneFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/zones/{zone_id}/dnssec": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the DNSSEC state of a zone
         * @description An addition of Stead. Returns whether the zone is signed, the DS record for the registrar, and what to do next. Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.
         */
        get: operations["getDnssec"];
        /**
         * Turn DNSSEC of a zone on or off
         * @description An addition of Stead. If you turn it on, Stead signs the zone immediately. Then give its DS record to the registrar of the domain. Before you turn it off, have the registrar remove the DS record. The zone stays signed while the parent zone or caches of resolvers still contain the DS record. Stead checks the parent zone every hour. To check it immediately, send the current value again. Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.
         */
        put: operations["changeDnssec"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/zones/{zone_id}/dnssec/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the key of a signed DNS zone
         * @description An addition of Stead. Publishes a new key next to the current key. When the parent zone contains its DS record, the new key signs. Stead removes the old key when it has expired in all resolvers. `GET /v1/zones/{zone_id}/dnssec` shows the progress. Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.
         */
        post: operations["rollDnssecKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/edge-cache": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the state of the edge cache
         * @description Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getEdgeCache"];
        /**
         * Turn the edge cache on or off
         * @description Toggles the state, or sets it to `enabled` if the body contains that field. Also purges the edge cache.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        put: operations["toggleEdgeCache"];
        post?: never;
        /**
         * Purge the edge cache
         * @description Stead no longer serves cached pages. The purge usually reaches all edges within milliseconds, and always within one second.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        delete: operations["purgeEdgeCache"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/edge-cache/defensive-mode": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Turn defensive mode on for a time, or off
         * @description In defensive mode, the browser of each visitor must solve a short calculation before it gets a page. Use it during an attack. The mode ends automatically after its duration. Without a duration, it ends immediately.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        put: operations["setDefensiveMode"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/cache": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Clear the CDN
         * @description Stead serves the site's current files from now on. Copies in browsers stay until they expire.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        delete: operations["purgeCdn"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/cdn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the state of the CDN
         * @description Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getCdn"];
        /**
         * Turn the CDN on or off
         * @description Toggles the state, or sets it to `enabled` if the body contains that field.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        put: operations["toggleCdn"];
        /**
         * Turn on the CDN
         * @description Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        post: operations["enableCdn"];
        /**
         * Turn off the CDN
         * @description Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        delete: operations["disableCdn"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/object-cache": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Flush the object cache
         * @description Waits until WordPress has flushed the cache, including the cache of a persistent drop-in.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        delete: operations["purgeObjectCache"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/light_weight_404": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Turn lightweight 404 responses on or off
         * @description When this is on, the platform responds to requests for missing static files (.css .gif .eot .jpg .jpeg .js .otf .png .svg .swf .ttf .webm .webp .woff .woff2). When it is off, WordPress responds to them. Toggles the state, or sets it to `enabled` if the body contains that field.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        put: operations["toggleLight404"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/multisite-support": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Turn multisite support on or off
         * @description Turning it on makes the site a network with sites in subdirectories. Turning it off removes the network constants from the site's configuration but keeps the data of the network. A background operation applies the change. Toggles the state, or sets it to `enabled` if the body contains that field.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        put: operations["toggleMultisite"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/maintenance-mode": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Turn maintenance mode on or off
         * @description In maintenance mode, visitors get 503 with a plain page and Retry-After. The dashboard and the log-in page work. A background operation applies the change after the site's other queued operations. Toggles the state, or sets it to `enabled` if the body contains that field.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        put: operations["toggleMaintenance"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/mu-plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the must-use plugins of your account
         * @description Returns one page of plugins, ordered by id.
         */
        get: operations["listMuPlugins"];
        put?: never;
        /**
         * Add a must-use plugin
         * @description Fetches one PHP file from its URL, checks its syntax with PHP, and installs it on all sites of your account (`existing_sites`) and on sites that you create later (`future_sites`). The `results` of the operation contain the outcome for each site. If Stead cannot fetch the file or PHP cannot parse it, no site changes and the operation contains the reason. To try again, use `PUT`.
         */
        post: operations["createMuPlugin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/mu-plugins/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a must-use plugin */
        get: operations["getMuPlugin"];
        /**
         * Fetch a must-use plugin again
         * @description Fetches the plugin from its stored URL and updates it on all its sites. If Stead cannot fetch it or PHP cannot parse it, the sites keep the current file. To change the URL, delete the plugin and add a new one.
         */
        put: operations["updateMuPlugin"];
        post?: never;
        /**
         * Delete a must-use plugin
         * @description Removes the plugin from lists immediately, and from all sites in the background. If its file was changed on a site, Stead keeps the file on that site. The `results` of the operation name these sites.
         */
        delete: operations["deleteMuPlugin"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/ondemand-backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the on-demand backups of a site
         * @description Returns the backups newest first, including those being created or deleted.
         *
         *     Requires the site's owner, or a collaborator with the role `download_backups`.
         */
        get: operations["listOndemandBackups"];
        put?: never;
        /**
         * Create an on-demand backup
         * @description A site can have three on-demand backups of each type. Stead takes the backup in the background and reads it back to verify it. When the backup is `completed`, its `id` is the `requestId` of the response. Until then, `id` is null. Stead keeps the newest backup of a type for 30 days. It keeps an older backup for 7 days after the next one is completed.
         *
         *     Requires the site's owner, or a collaborator with the role `download_backups`.
         */
        post: operations["createOndemandBackup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/ondemand-backups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an on-demand backup
         * @description While the backup is being created, use its `requestId`. It becomes the `id` of the backup.
         *
         *     Requires the site's owner, or a collaborator with the role `download_backups`.
         */
        get: operations["getOndemandBackup"];
        put?: never;
        post?: never;
        /**
         * Delete an on-demand backup
         * @description You cannot undo this. The slot is free immediately, and Stead removes the data from the storage shortly after. To stop a backup that is still being created, cancel its operation.
         *
         *     Requires the site's owner, or a collaborator with the role `download_backups`. In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        delete: operations["deleteOndemandBackup"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/ondemand-backups/{id}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download an on-demand backup
         * @description A file backup is a `.tar.bz2` archive of the web root with the WordPress core. A database backup is SQL text. You can download parts and resume a download (`Range`, `If-Range` with the `ETag`). Stead creates archives during the download, so the first response has no `Content-Length`. If you request a part that was never created, Stead first searches for its start. If that takes longer than 50 seconds, or than `Prefer: wait=<seconds>`, the response is 503 `archive_length_unknown` with `Retry-After`. An application can run 4 downloads at a time.
         *
         *     Requires the site's owner, or a collaborator with the role `download_backups`.
         */
        get: operations["downloadOndemandBackup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the backups of a site, database and files together
         * @description Returns all completed backups, scheduled and on demand, newest first. Each database backup comes with the latest file backup taken before it, so that both show the site at about the same time.
         *
         *     Requires the site's owner, or a collaborator with the role `download_backups`.
         */
        get: operations["listBackups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/backups/fs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the file backups of a site
         * @description Returns scheduled and on-demand backups, newest first.
         *
         *     Requires the site's owner, or a collaborator with the role `download_backups`.
         */
        get: operations["listFilesystemBackups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/backups/db": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the database backups of a site
         * @description Returns scheduled and on-demand backups, newest first.
         *
         *     Requires the site's owner, or a collaborator with the role `download_backups`.
         */
        get: operations["listDatabaseBackups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/backups/{backup_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a backup
         * @description A file backup is a `.tar.bz2` archive of the web root with the WordPress core. A database backup is SQL text. You can download parts and resume a download (`Range`, `If-Range` with the `ETag`). Stead creates archives during the download, so the first response has no `Content-Length`. If you request a part that was never created, Stead first searches for its start. If that takes longer than 50 seconds, or than `Prefer: wait=<seconds>`, the response is 503 `archive_length_unknown` with `Retry-After`. An application can run 4 downloads at a time.
         *
         *     Requires the site's owner, or a collaborator with the role `download_backups`.
         */
        get: operations["downloadBackup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/restores": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a site from backups
         * @description Restores files, the database, or both from backups of this site. The target is this site or another site of the same account, where you need the same role. Stead prepares the content while the site stays open. Then it closes the site and its dashboard until WordPress responds with the restored content. If it does not respond, Stead rolls back. It keeps the overwritten content for 7 days, so you can undo the restore with `POST /v1/operations/{id}/undo`. The owner and the caller get a mail at the end. The target keeps its WordPress version, its address and Stead's own files. If it is another site, it also keeps its wp-config.php. With `dry_run`, nothing changes: Stead only reports what a restore would lose. Read the report with `GET /v1/sites/{site_id}/restores/{operation_id}`.
         *
         *     Requires the site's owner, or a collaborator with the role `restore_site`.
         */
        post: operations["restoreSite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/restores/{operation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the preview of a restore
         * @description Returns the report of a restore with `dry_run`. Use the site that would be overwritten and the number in the `Operation-Id` of the restore. The response is 404 until that operation has succeeded.
         *
         *     Requires the site's owner, or a collaborator with the role `restore_site`.
         */
        get: operations["getRestorePreview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo a restore, a sync, an import or a plugin change
         * @description Restores the content that the operation kept for 7 days. You can undo the undo in the same way. For a sync, Stead restores the synced parts of the destination. For plugins that were installed, updated or deleted, it restores all plugins and the database. Changes made on the site since then are lost. Requires the permission to restore the site. Returns the operation that runs the undo.
         */
        post: operations["undoOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sync data from one site to another
         * @description Overwrites parts of a site's files, its database, or both with those of another site. Addresses of the source are rewritten to those of the destination. Stead first takes an on-demand backup of both sites, so each site needs a free slot for each type of data. It prepares the content while the destination stays open. Then it closes the destination and its dashboard until the homepage responds with the synced content. If that fails, Stead rolls back. Stead keeps the overwritten content for 7 days, so you can undo the sync with `POST /v1/operations/{id}/undo`. The source stays open. If it is on another host, Stead copies from its backup. Both sites must belong to the same account. A collaborator needs the role `download_backups` on the source and `restore_site` on the destination until the sync ends. Without them, the sync fails and the destination does not change. Stead records the sync in the activity logs of both sites and notifies their webhooks.
         */
        post: operations["syncSites"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/environments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the environments of a site
         * @description An addition of Stead. Returns the live site with its environments, whichever of them the path names. A site without links is its own live site, without environments. Sites in the trash are left out.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listEnvironments"];
        put?: never;
        /**
         * Create or link an environment
         * @description An addition of Stead. With `name`, clones the site as `POST /v1/sites/{site_id}/clone` does, and links the copy to it. With `site_id`, links an existing site of the same account, which does not change. A live site can have 5 environments. An environment belongs to one live site, and has no environments of its own. You need the same role on a site that you link.
         *
         *     Requires the site's owner, or a collaborator with the role `clone_site`.
         */
        post: operations["createEnvironment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/environments/{environment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unlink an environment
         * @description An addition of Stead. Ends the link between a live site and its environment. Both sites stay as they are, and no site is deleted. A sync that was requested before still runs.
         *
         *     Requires the site's owner, or a collaborator with the role `clone_site`.
         */
        delete: operations["unlinkEnvironment"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/environments/{environment_id}/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Push an environment to its live site
         * @description An addition of Stead. Overwrites parts of the live site with those of the environment. The presets are `everything`, `code` (plugins, themes and must-use plugins), `content` (uploads and the database), and `chosen`. Stead backs up the site that is overwritten, and keeps the backups for 7 days without using a slot. Then it works as `POST /v1/sites/sync`, with the same roles on both sites, and you can undo it in the same way. With `dry_run`, nothing changes. Read the report with `GET /v1/sites/{site_id}/environments/{environment_id}/previews/{operation_id}`.
         *
         *     Requires the site's owner, or a collaborator with the role `restore_site`.
         */
        post: operations["pushEnvironment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/environments/{environment_id}/pull": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pull the live site to an environment
         * @description An addition of Stead. Overwrites parts of the environment with those of the live site. The presets are `everything`, `code` (plugins, themes and must-use plugins), `content` (uploads and the database), and `chosen`. Stead backs up the site that is overwritten, and keeps the backups for 7 days without using a slot. Then it works as `POST /v1/sites/sync`, with the same roles on both sites, and you can undo it in the same way. With `dry_run`, nothing changes. Read the report with `GET /v1/sites/{site_id}/environments/{environment_id}/previews/{operation_id}`.
         *
         *     Requires the site's owner, or a collaborator with the role `download_backups`.
         */
        post: operations["pullEnvironment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/environments/{environment_id}/previews/{operation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the preview of a push or pull
         * @description An addition of Stead. Returns the report of a push or pull with `dry_run`: the files that change, and what is newer on the site that would be overwritten. Use the number in the `Operation-Id` of that request. The response is 404 until the operation has succeeded. You need the same roles as for the push or pull.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getEnvironmentPreview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the environments of several sites
         * @description An addition of Stead. Returns the environments that you can see, of the live sites that you name. Sites that you cannot see have none.
         */
        get: operations["listAllEnvironments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the imports of a site
         * @description Returns the last 20 imports, newest first.
         *
         *     Requires the site's owner, or a collaborator with the role `restore_site`.
         */
        get: operations["listImports"];
        put?: never;
        /**
         * Import a site from an archive
         * @description Imports a site of another host from one archive, or from an archive of its files and a dump of its database. Stead reads `.zip`, `.tar`, `.tar.gz`, `.wpress` (All-in-One WP Migration), sets of UpdraftPlus, archives of Duplicator (`.zip` or `.daf`), and dumps (`.sql` or `.sql.gz`). Name the https addresses of its files (`urls`), or upload them (`files`, then `PUT /v1/sites/{site_id}/imports/{import_id}/uploads/{number}`). Or, as `source`, from the running old site by SSH: its `wp-content` and a dump of its database. The old site does not change. Without SSH, as `plugin`: `GET /v1/sites/{site_id}/imports/{import_id}/plugin` returns a plugin for the old site, and `POST /v1/sites/{site_id}/imports/{import_id}/fetch` fetches the site when the plugin is active there. Stead first fetches and inspects it, without changes to the site: `GET /v1/sites/{site_id}/imports/{import_id}` shows the plan. Then `POST /v1/sites/{site_id}/imports/{import_id}/start` replaces `wp-content` and the database of the site; with `start`, this happens automatically if the plan has no blockers. Staged data is removed after 24 hours. A site has one import at a time.
         *
         *     Requires the site's owner, or a collaborator with the role `restore_site`.
         */
        post: operations["createImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/imports/{import_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an import
         * @description Includes its plan once the archive is inspected, and the steps until visitors reach the new site. After the import, it also compares the front page and five other pages with those of the old site, if that responds.
         *
         *     Requires the site's owner, or a collaborator with the role `restore_site`.
         */
        get: operations["getImport"];
        put?: never;
        post?: never;
        /**
         * Delete an import
         * @description Removes it with its staged data. The site does not change. You cannot delete an import while an operation works on it: cancel the operation first.
         *
         *     Requires the site's owner, or a collaborator with the role `restore_site`.
         */
        delete: operations["deleteImport"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/imports/{import_id}/plugin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the plugin for the old site
         * @description A zip file to upload on the Plugins page of the old site. It answers only this import, until the import expires. It contains only a hash of the token that identifies Stead. Delete it from the old site after the move.
         *
         *     Requires the site's owner, or a collaborator with the role `restore_site`.
         */
        get: operations["getImportPlugin"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/imports/{import_id}/fetch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fetch the old site with its plugin
         * @description Stead fetches `wp-content` and the tables from the plugin of this import, and inspects them. Install and activate the plugin on the old site first. If it does not answer, the import waits again, with the reason as `error`.
         *
         *     Requires the site's owner, or a collaborator with the role `restore_site`.
         */
        post: operations["fetchImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/imports/{import_id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start an inspected import
         * @description Replaces `wp-content` and the database of the site. Stead prepares everything while the site stays open. Then the site is closed until its WordPress answers with the imported content. If it does not answer, Stead restores the previous content. The site keeps its release of WordPress, its wp-config.php (except for the table prefix) and its address, which replaces the old addresses everywhere. Stead keeps the overwritten content for 7 days: `POST /v1/operations/{id}/undo`.
         *
         *     Requires the site's owner, or a collaborator with the role `restore_site`.
         */
        post: operations["startImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collaborators": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List collaborators
         * @description Returns all collaborators on your sites and all of your own collaborations, ordered by id.
         */
        get: operations["listCollaborators"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collaborators/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a collaborator
         * @description Returns a collaborator on one of your sites, or one of your own collaborations.
         */
        get: operations["getCollaborator"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collaborators/update-account-level-access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a collaborator's account-level access
         * @description With `add_to_all_new`, the collaborator gets `roles` on every new site. With `create_site`, the collaborator can also create sites for the owner. Absent fields keep their values, which are false and no roles for a new address. If both are false, account-level access ends, but the collaborator keeps access to their current sites.
         *
         *     Requires an application with account owner permission (scope `owner`).
         */
        put: operations["updateAccountLevelAccess"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collaborators/batch_create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a collaborator to many sites
         * @description On sites where the person is already a collaborator, these roles replace their current roles. Without `roles`, they keep their roles. If they lose `wp_access`, Stead deletes their WordPress user and gives its posts to the next administrator. Use `-1` in `siteIds` for all sites that you own or where you have the required roles. The `results` of the operation contain the outcome for each site.
         *
         *     Requires the owner of each site, or a collaborator with the role `create_collaborator` and the role `execute_bulk_operations`.
         */
        post: operations["batchCreateCollaborators"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collaborators/batch_destroy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove a collaborator from many sites
         * @description Use `-1` in `siteIds` for all sites that you own. With `delete_wp_user`, Stead also deletes the WordPress user and gives its posts to the oldest administrator. The `results` of the operation contain the outcome for each site.
         *
         *     Requires the owner of each site, or a collaborator with the role `delete_collaborator` and the role `execute_bulk_operations`.
         */
        post: operations["batchDestroyCollaborators"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/collaborators": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a site's collaborators
         * @description Returns the collaborators of the site ordered by id, without the owner.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listSiteCollaborators"];
        put?: never;
        /**
         * Add a collaborator to a site
         * @description If the address has no account, Stead creates one. People who cannot sign in yet get an invitation by mail, with a link to set a password for the control panel. The link works once and expires in one week. With `wp_access`, Stead creates a WordPress administrator with that address in the background.
         *
         *     Requires the site's owner, or a collaborator with the role `create_collaborator`.
         */
        post: operations["addSiteCollaborator"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/collaborators/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a collaborator of a site
         * @description Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getSiteCollaborator"];
        put?: never;
        post?: never;
        /**
         * Remove a collaborator from a site
         * @description With `delete_wp_user`, Stead also deletes the WordPress user in the background and gives its posts to the oldest administrator.
         *
         *     Requires the site's owner, or a collaborator with the role `delete_collaborator`.
         */
        delete: operations["removeSiteCollaborator"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/collaborators/{id}/wp-password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Reset a collaborator's WordPress password
         * @description Sets a random password in WordPress and returns it. Ends all WordPress sessions of that user.
         *
         *     Requires the site's owner, or a collaborator with the role `reset_collaborator_password`. In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        put: operations["resetCollaboratorPassword"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/rights": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what you may do with a site
         * @description Lists all operations on a site in the order of this document, and whether this token or session can run each. Clients can use it to hide unavailable operations. The list does not consider requirements on other sites or on the state of this site.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listSiteRights"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/favorites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a site to your favourites
         * @description Favourites apply to your account only, and come first in your lists of sites.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        post: operations["addFavorite"];
        /**
         * Remove a site from your favourites
         * @description Favourites apply to your account only, and come first in your lists of sites.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        delete: operations["removeFavorite"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add tags to a site
         * @description Tags belong to your account. Other accounts that see the site have their own tags.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        post: operations["addSiteTags"];
        /**
         * Remove tags from a site
         * @description Tags belong to your account. Other accounts that see the site have their own tags.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        delete: operations["removeSiteTags"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collaborators/{collaborator_id}/site": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the site of a collaborator
         * @description Returns the site as the collaborator sees it. Only for the collaborator and the owner of the site.
         */
        get: operations["getCollaborationSite"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collaborators/{collaborator_id}/site/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add tags to a site, as a collaborator's
         * @description Only for the collaborator and the owner of the site.
         */
        post: operations["addCollaborationTags"];
        /**
         * Remove tags from a site, as a collaborator's
         * @description Only for the collaborator and the owner of the site.
         */
        delete: operations["removeCollaborationTags"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collaborators/{email_address}/sites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a collaborator's sites
         * @description Returns one page of sites as the collaborator sees them, favourites first, then by name. Collaborators get all of their sites. Other callers get only the sites that they own.
         */
        get: operations["listCollaboratorSites"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collaborators/{email_address}/sites/{site_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one of a collaborator's sites */
        get: operations["getCollaboratorSite"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collaborators/{email_address}/sites/{site_id}/favorite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Add a site to a collaborator's favourites */
        post: operations["addCollaboratorFavorite"];
        /** Remove a site from a collaborator's favourites */
        delete: operations["removeCollaboratorFavorite"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collaborators/{email_address}/sites/{site_id}/tag": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Add tags to a site, as a collaborator's, by e-mail address */
        post: operations["addCollaboratorTags"];
        /** Remove tags from a site, as a collaborator's, by e-mail address */
        delete: operations["removeCollaboratorTags"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the plugins of a site
         * @description Returns the current plugins in WordPress, including must-use plugins and drop-ins. This also works if a plugin has broken the site. Update information comes from the last check of WordPress, which checks twice a day.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listPlugins"];
        /**
         * Update plugins
         * @description Checks that each plugin is installed, then starts an operation that updates the plugins one by one. You can choose a version, even an older one. The default is the latest version in the plugin directory. The `results` of the operation contain the outcome for each plugin. If an update breaks the site, Stead rolls it back. You can undo the update for 7 days.
         *
         *     Requires the site's owner, or a collaborator with the role `plugin_management_access`.
         */
        put: operations["updatePlugins"];
        /**
         * Install and activate plugins
         * @description Finds the package of each plugin, then starts an operation that installs the plugins one by one with the upgrader of WordPress. The `results` of the operation contain the outcome for each plugin. If a plugin breaks the site, Stead rolls it back and reports the PHP error. Stead keeps the previous files and database for 7 days, so you can undo the installation with `POST /v1/operations/{id}/undo`.
         *
         *     Requires the site's owner, or a collaborator with the role `plugin_management_access`.
         */
        post: operations["installPlugins"];
        /**
         * Delete plugins
         * @description Checks that each plugin is installed, then starts an operation that deactivates and uninstalls the plugins. The `results` of the operation contain the outcome for each plugin. Stead keeps the previous files and database for 7 days, so you can undo the deletion with `POST /v1/operations/{id}/undo`.
         *
         *     Requires the site's owner, or a collaborator with the role `plugin_management_access`.
         */
        delete: operations["deletePlugins"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/plugins/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Deactivate plugins
         * @description Checks that each plugin is installed, then starts an operation. The `results` of the operation contain the outcome for each plugin. If the site does not work without a plugin, Stead activates it again.
         *
         *     Requires the site's owner, or a collaborator with the role `plugin_management_access`.
         */
        put: operations["deactivatePlugins"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/plugins/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Activate plugins
         * @description Checks that each plugin is installed, then starts an operation. The `results` of the operation contain the outcome for each plugin. If a plugin breaks the site, Stead deactivates it again and reports the PHP error.
         *
         *     Requires the site's owner, or a collaborator with the role `plugin_management_access`.
         */
        put: operations["activatePlugins"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/advice": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List advice for a site
         * @description An addition of Stead. Returns what the owner of the site should change. Currently, there is one type of advice: a WooCommerce shop uses the embedded database on a host with MariaDB. The advice is based on the plugins of the last check.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listSiteAdvice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/safe-updates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the safe updates of a site
         * @description An addition of Stead. Returns one page of safe updates, newest first. Stead deletes them after 90 days.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listSafeUpdates"];
        put?: never;
        /**
         * Update plugins and themes safely
         * @description An addition of Stead. Starts an operation that looks at pages of the site before and after the update, and compares them. If a page is worse, Stead restores the files of the earlier versions. Content that visitors wrote meanwhile stays. The report has the ID of the operation. Name plugins and themes, or send `all`, `core`, or both. An update of WordPress closes the site for a moment, and requires the role for it.
         *
         *     Requires the site's owner, or a collaborator with the role `plugin_management_access`; `core`: the role `update_site_cms_version`.
         */
        post: operations["startSafeUpdate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/safe-updates/{update_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the report of a safe update
         * @description An addition of Stead. Returns what was updated, each page before and after, and why the update was undone.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getSafeUpdate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/safe-updates/{update_id}/pictures/{page}/{width}/{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a picture of a safe update
         * @description An addition of Stead. Returns a page that differs, as a browser showed it before or after the update, or what differs. The report has the paths.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getSafeUpdatePicture"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/safe-update-settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the safe update settings of a site
         * @description An addition of Stead. Returns which elements the pictures of all safe updates leave out, and which pages they compare, too.
         *
         *     Requires the site's owner, or a collaborator with the role `plugin_management_access`.
         */
        get: operations["getSafeUpdateSettings"];
        /**
         * Update the safe update settings of a site
         * @description An addition of Stead. Send at least one field. A list replaces the one before. The settings count from the next safe update on. A selector that the browser does not know hides nothing.
         *
         *     Requires the site's owner, or a collaborator with the role `plugin_management_access`.
         */
        put: operations["updateSafeUpdateSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/wordpress-update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the update of WordPress for a site
         * @description An addition of Stead. Returns the newest stable release that Stead knows, if it is newer than that of the site. `core` of a safe update installs it.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getWordpressUpdate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/safe-updates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the safe updates of all sites
         * @description An addition of Stead. Returns one page of the safe updates of the sites that you can see, newest first. Stead deletes them after 90 days.
         */
        get: operations["listAllSafeUpdates"];
        put?: never;
        /**
         * Update plugins and themes of many sites safely
         * @description An addition of Stead. Starts an operation that updates each site safely, one on each host at a time. Each site has an operation of its own. Named plugins and themes are updated on the sites that have them. Sites that cannot be updated are skipped, with a reason. The operation fails if the update of a site was undone or failed. A retry begins again with these sites. A cancellation lets updates finish that have begun. Use `-1` in `siteIds` for all sites where you have the required roles.
         *
         *     Requires the owner of each site, or a collaborator with the role `plugin_management_access` and the role `execute_bulk_operations`.
         */
        post: operations["startSafeUpdateBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/safe-updates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a safe update of many sites
         * @description An addition of Stead. Returns the state of each site, and why sites were skipped, undone, or failed.
         */
        get: operations["getSafeUpdateBatch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/update-policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the update policy of a site
         * @description An addition of Stead. Returns when Stead updates plugins and themes of the site safely without a request. A new site inherits the default of its account.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getUpdatePolicy"];
        /**
         * Set the update policy of a site
         * @description An addition of Stead. Send at least one field. Stead starts the safe updates as the owner of the site, a few at a time. It does not install versions again whose update was undone or failed, until there are newer ones or the policy changes. Versions that were undone together are tried again, one in each turn.
         *
         *     Requires the site's owner, or a collaborator with the role `plugin_management_access`.
         */
        put: operations["setUpdatePolicy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/account/update-policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the default update policy
         * @description An addition of Stead. Returns the update policy of the sites that you own and that inherit it.
         */
        get: operations["getDefaultUpdatePolicy"];
        /**
         * Set the default update policy
         * @description An addition of Stead. Send at least one field. It counts for the sites that you own and that inherit it, and for new sites.
         */
        put: operations["setDefaultUpdatePolicy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the plugins of all sites
         * @description Returns one page of the plugins that are installed on the sites that you can see, with the number of sites that have each version. The plugins of the most sites come first. Must-use plugins and drop-ins are not included. Stead updates the list when it changes a site, within a minute when a user changes it in WordPress, and once a day.
         */
        get: operations["listInstalledPlugins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plugins/{slug}/sites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sites that have a plugin
         * @description Returns one page of the sites that you can see and that have the plugin, in order of name.
         */
        get: operations["listSitesWithPlugin"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/themes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the themes of all sites
         * @description Returns one page of the themes that are installed on the sites that you can see, with the number of sites that have each version. The themes of the most sites come first. The parent of an active theme counts as active. Stead updates the list when it changes a site, within a minute when a user changes it in WordPress, and once a day.
         */
        get: operations["listInstalledThemes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/themes/{slug}/sites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sites that have a theme
         * @description Returns one page of the sites that you can see and that have the theme, in order of name.
         */
        get: operations["listSitesWithTheme"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vulnerabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List known vulnerabilities of all sites
         * @description An addition of Stead. Returns one page of the known vulnerabilities of plugins, themes and WordPress on the sites that you can see, the most severe first. Inactive plugins count, too, because their files can be requested. The list is empty if the operator has set no feed.
         */
        get: operations["listVulnerabilities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/cms/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Update WordPress
         * @description Updates to the latest stable release with `latest`. Without a version, switches between the latest stable release and the beta, if one exists. Returns the current site and starts an operation: Stead closes the site for a moment, upgrades its database, and opens it when its homepage responds. If it does not respond, Stead rolls back, and the operation contains the PHP error. If the site already has the version, nothing changes. Stead checks for the latest releases first. If that fails, it uses the last known releases, and `message` says so.
         *
         *     Requires the site's owner, or a collaborator with the role `update_site_cms_version`.
         */
        put: operations["updateCmsVersion"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the domains of a site
         * @description Returns the domains ordered by id. Their health is about ten minutes old at most.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listDomains"];
        put?: never;
        /**
         * Add a domain to a site
         * @description Returns all domains of the site. If the registrable domain has no zone yet, Stead creates it with records for the edge. If you add a registrable domain (`example.com`), Stead also adds `www.example.com` if that name is free. You can write international names in either form. `*.example.com` adds a wildcard, for the sites of a network. Its certificate needs a zone that Stead serves. You can claim a domain of another account: the response is 400 with a TXT record `_stead-challenge` for the domain. Create the record, then send the request again. When Stead finds the record, it returns 201 without the new domain, and `message` says when the domain moves. Stead notifies the other account. A day later, it checks the record again, moves the domain, and adds the host name to the site. If the record is missing by then, the claim ends.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_dns`.
         */
        post: operations["addDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/domains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a domain of a site
         * @description Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getDomain"];
        put?: never;
        post?: never;
        /**
         * Remove a domain from a site
         * @description Deletes all address records of the host name. The zone and its other records stay. After you remove the primary domain, the site is at its address under the staging domain again.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_dns`.
         */
        delete: operations["deleteDomain"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/domains/{id}/primary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the primary domain
         * @description Updates the address in WordPress (settings, links, media and serialized values). Then the site's other domains redirect to it. Use `-1` instead of an id for the address under the staging domain.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_dns`.
         */
        put: operations["setPrimaryDomain"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/domains/{id}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a domain now
         * @description An addition of Stead. Starts an operation that checks `healthy`, `dnsConfirmed` and `provisioned` again.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_dns`.
         */
        post: operations["checkDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/domain-claims": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the domain claims of a site
         * @description Returns up to 100 pending claims, the ones that move first at the beginning: claims of this site on domains of other accounts, and claims of other accounts on domains of this site.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listDomainClaims"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/domain-claims/{domain}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Cancel a domain claim
         * @description Ends the pending claim of a domain for this site. The domain stays with the other account, which is notified. You can claim the domain again later.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_dns`.
         */
        delete: operations["cancelDomainClaim"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/ftp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a site's SFTP users
         * @description Returns the SFTP users of the owner and of each collaborator with the role `sftp_access`, ordered by id.
         *
         *     Requires the site's owner, or a collaborator with the role `sftp_access`.
         */
        get: operations["listSftpUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/ftp/{username}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an SFTP user
         * @description Requires the site's owner, or a collaborator with the role `sftp_access`.
         */
        get: operations["getSftpUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/ftp/password/{username}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reset an SFTP user's password
         * @description Sets a random password and returns it. Save it: Stead does not show it again. Ends all connections of the user. A password that a collaborator created for another user is valid while that collaborator has the role `sftp_access`.
         *
         *     Requires the site's owner, or a collaborator with the role `sftp_access`. In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        post: operations["resetSftpPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/ftp/{username}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an SFTP user's public keys
         * @description Returns the keys ordered by id.
         *
         *     Requires the site's owner, or a collaborator with the role `sftp_access`.
         */
        get: operations["listSftpKeys"];
        put?: never;
        /**
         * Add a public key to an SFTP user
         * @description Anyone with the private key can log in as the user. A key that a collaborator added is valid while that collaborator has the role `sftp_access`.
         *
         *     Requires the site's owner, or a collaborator with the role `sftp_access`.
         */
        post: operations["addSftpKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/ftp/{username}/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a public key from an SFTP user
         * @description Ends all connections of the user.
         *
         *     Requires the site's owner, or a collaborator with the role `sftp_access`.
         */
        delete: operations["deleteSftpKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/disconnect-ssh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * End all of a site's SSH connections
         * @description Waits until the connections have ended. Users with a password or key can connect again.
         *
         *     Requires the site's owner, or a collaborator with the role `sftp_access`.
         */
        get: operations["disconnectSsh"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/ext": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the extension license
         * @description Returns the newest license, even if it was revoked.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getExtensionLicense"];
        put?: never;
        /**
         * Write the extension license to the site
         * @description The first call issues a license. Later calls write the same key again until you revoke it. Waits until the option `stead_ext_license` in the site's options table contains the key.
         *
         *     Requires the site's owner, or a collaborator with the role `plugin_management_access`.
         */
        post: operations["issueExtensionLicense"];
        /**
         * Revoke the extension license
         * @description Removes the key from the site's options table and waits until it is gone. You can still read the license, with the time of its revocation. The next POST issues a new license. Without a license, nothing changes. If the license is already revoked, Stead removes the key again.
         *
         *     Requires the site's owner, or a collaborator with the role `plugin_management_access`.
         */
        delete: operations["revokeExtensionLicense"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/one_time_login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a one-time login link for WordPress
         * @description Creates the link for the owner of the site or a collaborator with the role `wp_access`. The link works once within 30 seconds, in a browser whose `User-Agent` exactly matches the request. Otherwise, the browser gets the log-in page with the reason.
         *
         *     Requires the site's owner, or a collaborator with the role `wp_access`.
         */
        post: operations["createOneTimeLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/cms/dbadmin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Create a link to the site's database
         * @description Creates a link that opens Adminer with the database of this site only. The link works once within 5 minutes. The browser that opens it gets a session of one hour. Create the link right before you use it.
         *
         *     Requires the site's owner, or a collaborator with the role `db_admin_access`.
         */
        get: operations["getDatabaseAdminUrl"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the notes of a site
         * @description Returns one page of notes, newest first.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_notes`.
         */
        get: operations["listNotes"];
        put?: never;
        /**
         * Create a note
         * @description Requires the site's owner, or a collaborator with the role `manage_notes`.
         */
        post: operations["createNote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/notes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a note
         * @description Requires the site's owner, or a collaborator with the role `manage_notes`.
         */
        get: operations["getNote"];
        /**
         * Update a note
         * @description Send at least one field. The update also changes `editor` and `updated`.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_notes`.
         */
        put: operations["updateNote"];
        post?: never;
        /**
         * Delete a note
         * @description Requires the site's owner, or a collaborator with the role `manage_notes`.
         */
        delete: operations["deleteNote"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/logs/server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a site's web server log
         * @description Returns visitors' requests of the last 7 days, newest first, 200 per page.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listServerLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/logs/php": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a site's PHP error log
         * @description Returns errors of the last 7 days, newest first, 200 per page.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listPhpLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/logs/php/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count entries of a site's PHP error log
         * @description An addition of Stead. Counts the entries of the last 7 days, of one severity if you name it, up to 1000. With the status `Database error`, it tells how many database statements of the site failed.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["countPhpLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get page views and storage usage of a site
         * @description Stead updates current periods (today, this month, …) every five minutes, and past periods and disk usage every night. Days and months are in UTC. The site's activity log records each reader at most once an hour.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getSiteStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/statistics/days": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List page views of a site by day
         * @description An addition of Stead. Returns each day up to today, oldest first, including days without visits. New visits appear within seconds.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listDailyStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List statistics of several sites
         * @description An addition of Stead, for lists of sites: page views of the last 30 days, storage use as of last night, the time of the newest backup, and a picture of the homepage. Sites that you cannot see are left out. Nothing is written to the activity log.
         */
        post: operations["listSiteFigures"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/monitoring": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the states of all sites
         * @description Returns one page of the sites that you can see, in order of name, with their state at this time and their uptime in the last 90 days.
         */
        get: operations["listMonitoredSites"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/uptime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the uptime of a site
         * @description Returns the state of the site, the last 90 days, and the newest 10 incidents. Every edge asks each live site once a minute.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getSiteUptime"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the incidents of a site
         * @description Returns one page of the times in which the site was down, newest first. Incidents are kept for 90 days after their end.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listSiteIncidents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List alerts
         * @description Returns one page of the alerts of all sites that you can see, newest first. The operator of the installation also sees its alerts. Alerts are kept for 90 days after their end.
         */
        get: operations["listAlerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark alerts as read
         * @description Marks an alert and all older ones as read. Other people are not affected.
         */
        post: operations["markAlertsRead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get your alert settings
         * @description Returns which kinds of alerts reach you, and how.
         */
        get: operations["getAlertSettings"];
        /**
         * Update your alert settings
         * @description Send at least one field. A list replaces the one before.
         */
        put: operations["updateAlertSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/mutes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your mutes of alerts
         * @description Returns one page of your mutes that have not ended, in order of ID.
         */
        get: operations["listAlertMutes"];
        put?: never;
        /**
         * Mute alerts
         * @description Alerts of a site, of a kind, or both no longer reach you by mail, chat or bell. Lists still show them. Webhooks and other people are not affected.
         */
        post: operations["createAlertMute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/mutes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a mute of alerts
         * @description From now on, the alerts reach you again.
         */
        delete: operations["deleteAlertMute"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/chats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the chat rooms that get alerts
         * @description Returns one page of the chat rooms of your account, in order of ID.
         */
        get: operations["listAlertChats"];
        put?: never;
        /**
         * Send alerts to a chat room
         * @description Sends alerts of your sites to an incoming webhook of Slack, Mattermost, Discord, or a compatible chat program. Your mutes apply. The URL is secret: Stead never shows it again.
         */
        post: operations["createAlertChat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/chats/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test message to a chat room
         * @description Sends it within a minute. Then `sent_at` or `fault` of the chat room tells whether it arrived.
         */
        post: operations["testAlertChat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/chats/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Stop sending alerts to a chat room
         * @description Messages that were not sent yet are dropped.
         */
        delete: operations["deleteAlertChat"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/reports/performance/latest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the latest performance report
         * @description `data` is null if the site has no report yet. Values that Lighthouse could not measure are null.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getLatestPerformanceReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/reports/performance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the performance reports of a site
         * @description An addition of Stead. Returns the last ten reports, newest first, with scores and opportunities.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listPerformanceReports"];
        put?: never;
        /**
         * Create a performance report
         * @description Starts an operation that takes one or two minutes. A browser opens the homepage twice, as on a desktop and as on a phone.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        post: operations["orderPerformanceReport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/reports/performance/{report_id}/thumbnails/{device}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the screenshot of a performance report
         * @description Returns the page as the browser showed it. The path is `thumbnail_location` of a report.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getPerformanceReportThumbnail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/client-reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the client reports of a site
         * @description An addition of Stead. Returns one page of the months with a report, newest first: this one so far, the last one, and earlier ones. Stead keeps 24 months.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["listClientReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/client-reports/{month}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the client report of a month
         * @description An addition of Stead. Returns uptime, updates, backups, visits, performance, and domains. A part without data is null. Times are in UTC.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getClientReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/client-reports/{month}/html": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the client report of a month as a page
         * @description An addition of Stead. Returns one HTML file in the colors of the account that owns the site. It has no scripts, loads nothing, and prints on A4.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getClientReportPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/client-reports/{month}/pdf": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the client report of a month as PDF
         * @description An addition of Stead. Returns the page on A4. It takes a few seconds, and requires Chromium where the API runs.
         *
         *     Requires the site's owner, or a collaborator with any role.
         */
        get: operations["getClientReportPdf"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/client-report-settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get who receives the client reports of a site
         * @description An addition of Stead. Returns the recipients, and the newest mails with reports.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        get: operations["getClientReportSettings"];
        /**
         * Update who receives the client reports of a site
         * @description An addition of Stead. The list replaces the one before; an empty one ends the mails. The first report is that of this month.
         *
         *     Requires the site's owner, or a collaborator with the role `manage_performance`.
         */
        put: operations["updateClientReportSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List operations
         * @description Returns one page of background operations, newest first.
         */
        get: operations["listOperations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an operation */
        get: operations["getOperation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow an operation
         * @description Returns a stream of server-sent events. The data of an `operation` event is the Operation object. Stead sends it immediately and after each change, and skips outdated events for slow readers. The stream ends with the operation, when its token expires, or when you lose access to the operation. An application can have 50 streams open at a time.
         */
        get: operations["watchOperation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an operation
         * @description Cancels a queued operation immediately. If the operation is running, Stead first rolls back its completed steps.
         */
        post: operations["cancelOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry an operation
         * @description Runs the remaining steps of a failed or canceled operation. From then on, Stead checks your access rights instead of those of the account that started the operation.
         */
        post: operations["retryOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause an operation
         * @description An addition of Stead. Pauses an operation that moves many sites: a drain, a rebalance, or the replacement of a host. Moves that run finish, and no other one begins until you continue the operation.
         */
        post: operations["pauseOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{id}/continue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Continue a paused operation
         * @description An addition of Stead. The operation moves the sites that are left. Nothing changes if it is not paused.
         */
        post: operations["continueOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhooks of your account
         * @description Returns one page of webhooks, ordered by id, without their secrets.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Add a webhook
         * @description Sends all later events of your account and its sites to a URL, signed as Standard Webhooks defines. The receiver verifies signatures with `secret`. Save the secret: Stead does not show it again. Read missed events with `GET /v1/events`.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a webhook */
        get: operations["getWebhook"];
        /**
         * Update a webhook
         * @description Changes the fields that you send. With `"enabled": false`, Stead discards pending deliveries and sends no new events until you enable the webhook again. You can still read these events with `GET /v1/events`. With `"rotate_secret": true`, the response contains the new secret.
         */
        put: operations["updateWebhook"];
        post?: never;
        /**
         * Delete a webhook
         * @description Deletes the webhook and its deliveries. Stead sends nothing more, but a running attempt may still arrive.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test to a webhook
         * @description Sends a signed event of type `test` immediately and once, even if the webhook is disabled. See the result in the deliveries of the webhook.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook
         * @description Returns one page of deliveries with their attempts, newest first. Stead keeps the 1,000 newest completed deliveries for 30 days.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an event to a webhook again
         * @description Sends the event immediately with the same event id. For a completed delivery, Stead creates a new delivery that does not wait for earlier events. A waiting delivery is sent now.
         */
        post: operations["redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List or follow the events of your account
         * @description Returns the webhook events of the last 30 days, newest first. For the next page, send the id of the last event as `before`. With `after`, returns the events after an event, oldest first. A client that continues with `after` misses no event. With `Accept: text/event-stream`, returns a stream of server-sent events until the token expires. The stream starts now, or after `Last-Event-ID` or `after`. Its `id` is the id of the event, `event` the type, and `data` the Event object. An application can have 50 streams open at a time.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the health of the installation
         * @description Returns hosts, queues, budgets, certificates and backups of Stead's own records. Only the operator, which is the first account, gets `health`. It is null for other accounts.
         */
        get: operations["getInstallation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the installation
         * @description Returns the results of `stead doctor` on the API server: names, DNS, ports, certificates, clock, disk, databases, storage, mail, PHP and limits. Takes up to 15 seconds. Stead caches the result for ten seconds. `checks` is null unless your account operates the installation.
         */
        get: operations["checkInstallation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the accounts of the installation
         * @description An addition of Stead. Returns one page of accounts in order of ID. The operator, which is the first account, gets all accounts. Other accounts get only their own.
         */
        get: operations["listInstallationAccounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/accounts/{id}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Suspend an account
         * @description An addition of Stead. Nobody can sign in to the account, its sessions and access tokens are refused, and visitors of its sites get 480 Temporarily Unavailable. Nothing is deleted: backups, updates and scheduled events of its sites continue, and collaborators still have access to its sites. The account of the operator cannot be suspended.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`). In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        put: operations["suspendAccount"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/accounts/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Resume a suspended account
         * @description An addition of Stead. Its people can sign in again, its credentials are accepted, and visitors get its sites. Sites that were disabled before stay disabled.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        put: operations["resumeAccount"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/accounts/{id}/removal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what the removal of an account deletes
         * @description An addition of Stead. Lists everything that goes with the account, what stays, and what prevents the removal. Lists have at most 100 entries, and totals count all.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        get: operations["getAccountRemoval"];
        put?: never;
        /**
         * Remove an account
         * @description An addition of Stead. Suspends the account at once, and deletes it with everything that `GET` lists after `keep_days`. Until then you can cancel the removal, and nothing has changed. To change the number of days, send the request again. The account of the operator cannot be removed.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`). In the control panel, you must have confirmed your password in the last 15 minutes.
         */
        post: operations["removeAccount"];
        /**
         * Cancel the removal of an account
         * @description An addition of Stead. Possible until the deletion begins. The account is as before: it is resumed, unless it was suspended when you removed it.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        delete: operations["cancelAccountRemoval"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/hosts/{name}/cordon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Keep new sites off a host
         * @description An addition of Stead. Its sites stay and run. New sites, and sites that are recovered, go to other hosts. Without another host, sites cannot be created.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        put: operations["cordonHost"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/hosts/{name}/uncordon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Let a host get new sites again
         * @description An addition of Stead. Ends `PUT /v1/installation/hosts/{name}/cordon`.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        put: operations["uncordonHost"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/hosts/{name}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Move all sites off a host
         * @description An addition of Stead. Cordons the host, and moves its sites to other hosts, the least visited first, two at a time. A site that cannot move stays, and the operation in `Operation-Id` says why. The host stays cordoned. A request while it drains follows the same operation. To stop early, cancel the operation or uncordon the host: moves that have begun finish. Deleted sites in the trash move last. If some stay, the operation says why and until when. The host cannot be removed before that.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        put: operations["drainHost"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/hosts/{name}/replace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Move all sites to another host and remove this one
         * @description An addition of Stead. Cordons the host, and moves its sites and those in its trash to the host `to`, like a drain. Then it removes the copies that moves leave for a day, and removes the host: its certificate and its login for PostgreSQL no longer work. If anything is left on the host, the operation in `Operation-Id` fails with the reason, and the host stays cordoned. The process of the host ends when it is removed. Its disk is not touched. To stop early, cancel the operation or uncordon the host: moves that have begun finish.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        put: operations["replaceHost"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/hosts/rebalance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move sites from full hosts to emptier ones
         * @description An addition of Stead. Compares the disk use and the page views of all hosts that take sites. If two differ by more than a tenth of their fair share, it moves sites from the fuller one to the emptier one. Sites that moved in the last week stay. One operation, named in `Operation-Id`, runs all moves. To stop early, cancel it: moves that have begun finish. With `dry_run`, or when no site should move, nothing starts.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        post: operations["rebalanceHosts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/hosts/{name}/lost": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Declare a host lost
         * @description An addition of Stead. Recovers the sites of a dead host on other hosts, from their newest backups, the most visited first. Changes since these backups are lost. Stead refuses this while the host reports. The host cannot run again until it is returned.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        put: operations["loseHost"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/hosts/{name}/return": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Let a lost host run again
         * @description An addition of Stead. Start the host afterwards. It serves the sites that stayed on it, and quarantines the directories of sites that are elsewhere now.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        put: operations["returnHost"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation/hosts/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove an empty host from all lists
         * @description An addition of Stead. The host must be stopped, or lost, and have no sites. Its disk is not touched.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        delete: operations["removeHost"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the hosts that a site may move to
         * @description An addition of Stead. Lists all hosts in order of ID, and says which can take the site and why others cannot. `POST /v1/sites/{id}/relocate` moves it.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        get: operations["listSiteHosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{id}/relocate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move a site to another host
         * @description An addition of Stead. Only the operator can move sites between hosts, and both hosts must use the same backup storage. Stead copies the site while it is open. Then it closes the site (503 with `Retry-After`), copies what has changed, compares files and database, and opens the site on the new host. If anything fails, the site stays where it is. Follow the progress with the operation in `Operation-Id`. The old host keeps its copy for a day.
         *
         *     Requires the operator of the installation, with an application that has account owner permission (scope `owner`).
         */
        post: operations["relocateSite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sites/{site_id}/imports/{import_id}/uploads/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Upload a part of a file of an import
         * @description Adds the bytes of the request body to the end of the file. A part has at most 16 MB and must arrive within a minute. Stead accepts the complete part or nothing. After an interruption, continue at `received` of `GET /v1/sites/{site_id}/imports/{import_id}`. When all files are complete, Stead inspects them: that answer has an `Operation-Id`.
         *
         *     Requires the site's owner, or a collaborator with the role `restore_site`.
         */
        put: operations["uploadImport"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request an access token
         * @description Uses the OAuth 2.0 client credentials grant (RFC 6749 §4.4). A token is valid for one hour.
         *
         *     Requires no access token.
         */
        post: operations["issueToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke an access token
         * @description Follows RFC 7009. The token stops working immediately on all hosts. The response is the same for an unknown token.
         *
         *     Requires no access token.
         */
        post: operations["revokeToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What went wrong. `errors` has one entry for each error */
        Problem: {
            /** @example There was a problem processing your request. */
            message: string;
            data: null;
            /**
             * @example [
             *       "name: must be at least 4 characters"
             *     ]
             */
            errors: string[];
            /**
             * @description Error code for programs. docs/errors.md lists all codes
             * @example invalid_input
             */
            code: string;
        };
        AuthorizationServer: {
            /**
             * @description Address of this installation
             * @example https://stead.example.com
             */
            issuer: string;
            /** @example https://stead.example.com/auth/token */
            token_endpoint: string;
            /** @example https://stead.example.com/auth/revoke */
            revocation_endpoint: string;
            /**
             * @example [
             *       "client_credentials"
             *     ]
             */
            grant_types_supported: string[];
            /**
             * @description Always empty: Stead has no authorization page
             * @example []
             */
            response_types_supported: string[];
            /**
             * @example [
             *       "authorized",
             *       "owner"
             *     ]
             */
            scopes_supported: string[];
            /**
             * @example [
             *       "client_secret_basic",
             *       "client_secret_post"
             *     ]
             */
            token_endpoint_auth_methods_supported: string[];
            /**
             * @example [
             *       "client_secret_basic",
             *       "client_secret_post"
             *     ]
             */
            revocation_endpoint_auth_methods_supported: string[];
            /** @example https://stead.example.com/docs */
            service_documentation: string;
        };
        SignInBody: {
            /** @example owner@example.com */
            email: string;
            /** @example correct horse battery */
            password: string;
            /** @example 123456 */
            code?: string;
        };
        SignedIn: {
            account_id: number;
            /** @example owner@example.com */
            email: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            expires_at: string;
        };
        BrandLogo: {
            /**
             * @description Path of the logo. It changes with the logo
             * @example /v1/session/brand/logo?version=1
             */
            location: string;
            /**
             * @description Pixels. Null: unknown
             * @example 300
             */
            width: number | null;
            /**
             * @description Pixels. Null: unknown
             * @example 80
             */
            height: number | null;
        };
        /** @description What the control panel shows in the place of its own name, logo, and color. Null: nothing */
        Brand: {
            /** @example Northlight Studio */
            name: string;
            /**
             * @description Accent color
             * @example #0f766e
             */
            color: string | null;
            logo: components["schemas"]["BrandLogo"] | null;
        };
        CurrentSession: {
            /** @description Id of the session */
            id: number;
            account_id: number;
            /** @example owner@example.com */
            email: string;
            /** @example Example Company */
            name: string;
            /** @example https://www.gravatar.com/avatar/c8cd3c64?d=mp */
            gravatar: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            expires_at: string;
            /**
             * @description Until then, you need not confirm your password. Null if you must confirm it
             * @example 2026-01-31T09:45:00.000Z
             */
            proven_until: string | null;
            /** @description Whether the account operates this installation. The first account does */
            operator: boolean;
            /** @description Whether the account can attach add-ons. The setting `STEAD_ADDONS` decides it */
            raises_limits: boolean;
            /** @description Whether sign-in requires a code from an authenticator app */
            totp: boolean;
            /** @description Number of unused recovery codes */
            recovery_codes: number;
            /** @description Whether the account has a password */
            password: boolean;
            /** @description Number of passkeys for this address of the control panel */
            passkeys: number;
            brand: components["schemas"]["Brand"] | null;
        };
        /** @description PublicKeyCredentialRequestOptionsJSON of WebAuthn */
        PasskeyRequestOptions: {
            [key: string]: unknown;
        };
        UsedCredentialResponse: {
            /**
             * @description JSON that names the challenge and the origin
             * @example c3RlYWQ
             */
            clientDataJSON: string;
            /**
             * @description Authenticator data from the device
             * @example c3RlYWQ
             */
            authenticatorData: string;
            /**
             * @description Signature over the authenticator data and the client data
             * @example c3RlYWQ
             */
            signature: string;
        };
        /** @description Result of `toJSON()` on the credential from `navigator.credentials.get()` */
        UsedCredential: {
            /**
             * @description Id of the credential
             * @example c3RlYWQ
             */
            id: string;
            response: components["schemas"]["UsedCredentialResponse"];
        };
        SignInByPasskeyBody: {
            credential: components["schemas"]["UsedCredential"];
        };
        ProveIdentityBody: {
            /** @example correct horse battery */
            password: string;
        };
        Proof: {
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            proven_until: string;
        };
        ProveByPasskeyBody: {
            credential: components["schemas"]["UsedCredential"];
        };
        RequestPasswordLinkBody: {
            /** @example owner@example.com */
            email: string;
        };
        UsePasswordLinkBody: {
            /**
             * @description Part of the link after `#`
             * @example mF_9.B5f-4.1JqM
             */
            token: string;
            /** @example correct horse battery */
            password: string;
            /** @example 123456 */
            code?: string;
        };
        BeginPasskeyByLinkBody: {
            /**
             * @description Part of the link after `#`
             * @example mF_9.B5f-4.1JqM
             */
            token: string;
        };
        /** @description PublicKeyCredentialCreationOptionsJSON of WebAuthn */
        PasskeyCreationOptions: {
            [key: string]: unknown;
        };
        NewCredentialResponse: {
            /**
             * @description JSON that names the challenge and the origin
             * @example c3RlYWQ
             */
            clientDataJSON: string;
            /**
             * @description New public key with its attestation
             * @example c3RlYWQ
             */
            attestationObject: string;
            /**
             * @example [
             *       "internal"
             *     ]
             */
            transports?: string[];
        };
        /** @description Result of `toJSON()` on the credential from `navigator.credentials.create()` */
        NewCredential: {
            /**
             * @description Id of the credential
             * @example c3RlYWQ
             */
            id: string;
            response: components["schemas"]["NewCredentialResponse"];
        };
        CreatePasskeyByLinkBody: {
            /**
             * @description Part of the link after `#`
             * @example mF_9.B5f-4.1JqM
             */
            token: string;
            /** @example Laptop */
            name: string;
            credential: components["schemas"]["NewCredential"];
            /** @example 123456 */
            code?: string;
        };
        ChangePasswordBody: {
            /** @example correct horse battery */
            current_password: string;
            /** @example staple under the lamp */
            password: string;
        };
        TotpSecret: {
            /**
             * @description Base32 secret, for apps that cannot scan a QR code
             * @example JBSWY3DPEHPK3PXP
             */
            secret: string;
            /**
             * @description Content of the QR code for the app
             * @example otpauth://totp/Stead:owner%40example.com?issuer=Stead&secret=JBSWY3DPEHPK3PXP
             */
            uri: string;
        };
        ConfirmTotpBody: {
            /** @example 123456 */
            code: string;
        };
        RecoveryCodes: {
            /**
             * @example [
             *       "abcd-efgh-jkmn"
             *     ]
             */
            recovery_codes: string[];
        };
        Passkey: {
            id: number;
            /** @example Laptop */
            name: string;
            /**
             * @description Host name where the passkey works
             * @example panel.example.com
             */
            host_name: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description When the passkey was last used to sign in
             * @example 2026-01-31T09:45:00.000Z
             */
            used_at: string | null;
        };
        CreatePasskeyBody: {
            /** @example Laptop */
            name: string;
            credential: components["schemas"]["NewCredential"];
        };
        Session: {
            id: number;
            /** @description Whether this is the session of the request */
            current: boolean;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            seen_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            expires_at: string;
            /** @example Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0 */
            user_agent: string;
            /** @example 203.0.113.7 */
            ip_address: string;
        };
        Application: {
            id: number;
            /** @example Deploy bot */
            name: string;
            /** @example 5b0c9f3a7d8e4c21b6f05a9d3e7c1f84 */
            client_id: string;
            /** @description Whether its tokens have the scope `owner` */
            owner: boolean;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
        };
        CreateApplicationBody: {
            /** @example Deploy bot */
            name: string;
            /** @description Whether its tokens have the scope `owner`. Default: false */
            owner?: boolean;
        };
        NewApplication: {
            id: number;
            /** @example Deploy bot */
            name: string;
            /** @example 5b0c9f3a7d8e4c21b6f05a9d3e7c1f84 */
            client_id: string;
            /** @description Whether its tokens have the scope `owner` */
            owner: boolean;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /** @example hV3n0kq2m8Zs6xJ9w1b4 */
            client_secret: string;
        };
        Views: {
            /**
             * @description Unique visitors of each day
             * @example 128
             */
            people: number;
            /**
             * @description Page views
             * @example 512
             */
            views: number;
        };
        PageViews: {
            allTime: components["schemas"]["Views"];
            lastTwoYearsIsAllTime: components["schemas"]["Views"];
            currentMonth: components["schemas"]["Views"];
            lastMonth: components["schemas"]["Views"];
            today: components["schemas"]["Views"];
            twoMonthsAgo: components["schemas"]["Views"];
            yesterday: components["schemas"]["Views"];
        };
        SiteCapacity: {
            /**
             * @description Number of live sites that the plan and add-ons allow
             * @example 20
             */
            maxBillable: number;
            /**
             * @description Number of staging sites that the plan and add-ons allow
             * @example 21
             */
            maxStaging: number;
            /** @example 3 */
            billable: number;
            /** @example 2 */
            staging: number;
            /** @example 5 */
            total: number;
        };
        Capacity: {
            sites: components["schemas"]["SiteCapacity"];
        };
        ActivityEntry: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            timestamp: string;
            /**
             * @description Person who made the change. Null if Stead made it
             * @example owner@example.com
             */
            accountEmail: string | null;
            /** @example 192.0.2.7 */
            ipAddress: string | null;
            /** @example curl/8.5.0 */
            userAgent: string;
            /**
             * @description Name of the action
             * @example site.created
             */
            name: string;
            /** @example A site was created */
            description: string;
            /**
             * @example api.v1
             * @enum {string}
             */
            source: "ui" | "api.v1" | "systems";
            /** @example Created live site */
            message: string;
            /** @description Only present in the log of an account. Null if it is about no site */
            site_id?: number | null;
            /**
             * @description Display name of the site. Null if the site is not there. Only present in the log of an account
             * @example My first site
             */
            site_name?: string | null;
        };
        Account: {
            affiliate: boolean;
            /**
             * @description Accounts that collaborate on sites of this account
             * @example 2
             */
            collaboratorCount: number;
            /** @example owner@example.com */
            email: string;
            /** @example https://www.gravatar.com/avatar/c8cd3c6427301eaf6665bccacd65ddb614527acc843a15463e3faba57124c351?d=mp */
            gravatar: string;
            /** @example Example Company */
            name: string;
            /** @example Example Ltd */
            organization: string;
            pageViews: components["schemas"]["PageViews"];
            /** @example +1 555 0100 */
            phoneNumber: string;
            preview: boolean;
            /**
             * @description Name of the plan
             * @example Business
             */
            productName: string;
            /** @example 8.3 */
            defaultPhpVersion: string;
            /** @example AMS */
            defaultDatacenter: string | null;
            /** @example 41 */
            maxSites: number;
            /**
             * @description Number of sites that the account owns
             * @example 5
             */
            sitesCount: number;
            capacity: components["schemas"]["Capacity"];
            /** @description The 10 newest entries of the activity log */
            recent_activity: components["schemas"]["ActivityEntry"][];
        };
        AccountUpdate: {
            /**
             * @example 8.3
             * @enum {string}
             */
            php_version?: "8.1" | "8.2" | "8.3";
            /**
             * @description Null for no preference
             * @example AMS
             */
            datacenter_code?: string | null;
        };
        Addon: {
            id: number;
            /** @example 1 Site */
            name: string;
            /** @description What one unit adds */
            unitAllocation: number;
            /** @example 1500 */
            priceInCents: number;
        };
        UpdateAddonsBody: {
            addon_id: number;
            /** @description Total quantity that the account should have. 0 detaches the add-on */
            quantity: number;
        };
        AttachedAddon: {
            /** @example 1 Site */
            name: string;
            quantity: number;
        };
        Branding: {
            /**
             * @description Name of the agency. Null: the name of the account
             * @example Northlight Studio
             */
            name: string | null;
            /**
             * @description Accent color. Stead writes on it in black or white, whichever is easier to read
             * @example #0f766e
             */
            color: string | null;
            /**
             * @description Mail address to which clients reply
             * @example hello@northlight.example
             */
            reply_to: string | null;
            /**
             * @description Path of the logo. It requires the same token
             * @example /v1/account/branding/logo
             */
            logo_location: string | null;
        };
        BrandingUpdate: {
            /**
             * @description Name of the agency. Null: the name of the account
             * @example Northlight Studio
             */
            name?: string | null;
            /**
             * @description Accent color. Stead writes on it in black or white, whichever is easier to read
             * @example #0f766e
             */
            color?: string | null;
            /**
             * @description Mail address to which clients reply
             * @example hello@northlight.example
             */
            reply_to?: string | null;
            /**
             * @description PNG, JPEG, or WebP in Base64, at most 200 kB and 4000 pixels wide and high
             * @example iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPgL8sDAAGLAPQ8xSAqAAAAAElFTkSuQmCC
             */
            logo?: string | null;
        };
        ActivityFilter: {
            /** @enum {string} */
            field: "action" | "account_email" | "ip_address" | "source";
            /** @enum {string} */
            operator: "equals" | "contains";
            /**
             * @description may not contain a null character
             * @example site.created
             */
            value: string;
        };
        ActivityQuery: {
            /**
             * @description Returns entries that match all filters. Case is ignored
             * @example [
             *       {
             *         "field": "action",
             *         "operator": "equals",
             *         "value": "site.created"
             *       }
             *     ]
             */
            filters?: components["schemas"]["ActivityFilter"][];
            /** @description Page number, starting at 1 */
            page?: number;
            /** @description Entries per page. Default: 20, maximum: 50 */
            per_page?: number;
            /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
            after?: number;
        };
        Page: {
            currentPage: number;
            /** @example null */
            nextPage: number | null;
            lastPage: number;
            /** @example 20 */
            perPage: number;
            totalItems: number;
        };
        Action: {
            /** @example site.created */
            name: string;
            /** @example A site was created */
            description: string;
        };
        Tag: {
            id: number;
            /** @example shop */
            name: string;
        };
        SiteStatus: {
            /**
             * @description The answer to visitors. `live`: the site. `maintenance`: a maintenance page (503). `disabled`: an unavailable page (480). `suspended`: the same, because the operator suspended the account. `deploying`, `cloning` and `failed` (Stead could not create the site): a setup page (503). `restoring`, `syncing`, `importing`, `moving` and `closed`: a maintenance page (503), and the dashboard is also closed.
             * @example live
             * @enum {string}
             */
            status: "live" | "maintenance" | "disabled" | "suspended" | "deploying" | "cloning" | "failed" | "restoring" | "syncing" | "importing" | "moving" | "closed";
            /**
             * @description Reason for the status, and what to do. Null while `live`
             * @example null
             */
            reason: string | null;
            /**
             * @description Id of the operation that keeps the site closed
             * @example null
             */
            operationId: number | null;
            /**
             * @description Why Stead could not create the site, and what to do
             * @example null
             */
            deployError: string | null;
            /** @description WordPress runs without the plugins and the theme of the site */
            safeMode: boolean;
        };
        ListedSite: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            accountId: number;
            /**
             * @description Source site of a clone
             * @example null
             */
            clonedFromId: number | null;
            /** @example 1 */
            collaboratorsCount: number;
            /**
             * @description N/A if not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A if not applicable
             * @example Amsterdam
             */
            datacenterName: string;
            /** @example My first site */
            displayName: string;
            /** @example 0 */
            domainsCount: number;
            ecommerce: boolean;
            /** @enum {string} */
            edgeCache: "enabled" | "disabled";
            edgeCacheDefensiveMode: boolean;
            /**
             * @description Unix time
             * @example null
             */
            edgeCacheDefensiveModeUntil: number | null;
            favorite: boolean;
            /**
             * @description Unique in this installation
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name without the scheme, with the port if it is not the default
             * @example my-first-site.example.com
             */
            url: string;
            staging: boolean;
            /** @example sftp.example.com */
            sftpDomain: string;
            /** @example 8.3 */
            phpVersion: string | null;
            /**
             * @description Descriptive text
             * @example Current Stable Release (6.8.7)
             */
            cmsVersion: string;
            tags: components["schemas"]["Tag"][];
            /**
             * @example production
             * @enum {string}
             */
            wpEnvironmentType: "local" | "development" | "staging" | "production";
            /** @example true */
            lightWeight404: boolean;
            multisiteSupport: boolean;
            /** @example 192.0.2.1 */
            ipAddress: string;
            /** @example 192.0.2.1 */
            ipAddressOne: string;
            /** @example 192.0.2.2 */
            ipAddressTwo: string;
            status?: components["schemas"]["SiteStatus"];
        };
        NewSite: {
            /**
             * @description may have letters, digits and dashes only, with no dash at the start or the end (no periods, spaces or other characters)
             * @example my-first-site
             */
            name: string;
            /**
             * @description Default: the default of the account, or another version if the host does not run that one. The response contains the version
             * @example 8.3
             * @enum {string}
             */
            php_version?: "8.1" | "8.2" | "8.3";
            datacenter_code?: string;
            /** @description Default: false */
            staging?: boolean;
            /** @enum {string} */
            install?: "wordpress" | "woocommerce";
            /** @description Default: false */
            multisite_support?: boolean;
            /** @description may have letters, digits, _ and - only */
            wp_admin_username?: string;
            /** Format: email */
            wp_admin_email?: string;
            /** @description Account that will own the site. It must allow the caller to create sites */
            account_id?: number;
        };
        Site: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            accountId: number;
            /**
             * @description Source site of a clone
             * @example null
             */
            clonedFromId: number | null;
            /** @example 1 */
            collaboratorsCount: number;
            /**
             * @description N/A if not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A if not applicable
             * @example Amsterdam
             */
            datacenterName: string;
            /** @example My first site */
            displayName: string;
            /** @example 0 */
            domainsCount: number;
            ecommerce: boolean;
            /** @enum {string} */
            edgeCache: "enabled" | "disabled";
            edgeCacheDefensiveMode: boolean;
            /**
             * @description Unix time
             * @example null
             */
            edgeCacheDefensiveModeUntil: number | null;
            favorite: boolean;
            /**
             * @description Unique in this installation
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name without the scheme, with the port if it is not the default
             * @example my-first-site.example.com
             */
            url: string;
            staging: boolean;
            /** @example sftp.example.com */
            sftpDomain: string;
            /** @example 8.3 */
            phpVersion: string | null;
            /**
             * @description Descriptive text
             * @example Current Stable Release (6.8.7)
             */
            cmsVersion: string;
            tags: components["schemas"]["Tag"][];
            /**
             * @example production
             * @enum {string}
             */
            wpEnvironmentType: "local" | "development" | "staging" | "production";
            /** @example true */
            lightWeight404: boolean;
            multisiteSupport: boolean;
            /** @example 192.0.2.1 */
            ipAddress: string;
            /** @example 192.0.2.1 */
            ipAddressOne: string;
            /** @example 192.0.2.2 */
            ipAddressTwo: string;
        };
        ValidateSiteNameBody: {
            /**
             * @description A string (required)
             * @example my-first-site
             */
            name?: unknown;
        };
        NameCheck: {
            /** @example true */
            valid: boolean;
        };
        SiteFilter: {
            /**
             * @example name
             * @enum {string}
             */
            key: "any" | "domain" | "name" | "state" | "wordpress_version" | "cms_version" | "php_version" | "datacenter_code" | "cloned_from" | "staging" | "tag";
            /** @example shop */
            value: string;
        };
        SearchSitesBody: {
            filters: components["schemas"]["SiteFilter"][];
            /** @description Page number, starting at 1 */
            page?: number;
            /** @description Entries per page. Default: 20, maximum: 50 */
            per_page?: number;
            /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
            after?: number;
            /** @description Use it instead of `page` to keep the order of the list: empty to begin, then the value of the header `Next-Place`, which is missing on the last answer. Sites that are added or deleted meanwhile cause no gaps */
            place?: string;
            /**
             * @description Sort by name, ID (`created`), PHP version, or storage use as of last night (`disk`); a `-` reverses the order. Without it, favorites come first, then names
             * @example -disk
             * @enum {string}
             */
            sort?: "name" | "-name" | "created" | "-created" | "php_version" | "-php_version" | "disk" | "-disk";
        };
        FoundSite: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            accountId: number;
            /**
             * @description Source site of a clone
             * @example null
             */
            clonedFromId: number | null;
            /** @example 1 */
            collaboratorsCount: number;
            /**
             * @description N/A if not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A if not applicable
             * @example Amsterdam
             */
            datacenterName: string;
            /** @example My first site */
            displayName: string;
            /** @example 0 */
            domainsCount: number;
            ecommerce: boolean;
            /** @enum {string} */
            edgeCache: "enabled" | "disabled";
            edgeCacheDefensiveMode: boolean;
            /**
             * @description Unix time
             * @example null
             */
            edgeCacheDefensiveModeUntil: number | null;
            favorite: boolean;
            /**
             * @description Unique in this installation
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name without the scheme, with the port if it is not the default
             * @example my-first-site.example.com
             */
            url: string;
            staging: boolean;
            /** @example sftp.example.com */
            sftpDomain: string;
            /** @example 8.3 */
            phpVersion: string | null;
            /**
             * @description Descriptive text
             * @example Current Stable Release (6.8.7)
             */
            cmsVersion: string;
            tags: components["schemas"]["Tag"][];
            /**
             * @example production
             * @enum {string}
             */
            wpEnvironmentType: "local" | "development" | "staging" | "production";
            /** @example true */
            lightWeight404: boolean;
            multisiteSupport: boolean;
            /**
             * @example [
             *       "192.0.2.1",
             *       "192.0.2.2"
             *     ]
             */
            ipAddresses: string[];
            status?: components["schemas"]["SiteStatus"];
        };
        Datacenter: {
            /** @example AMS */
            code: string;
            /** @example Amsterdam */
            name: string;
        };
        SiteCollaborator: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /** @example colleague@example.com */
            email: string;
            /** @example https://www.gravatar.com/avatar/5c4b03a7e82107cd4b76c5643f0ac6c06499c6bdb270b2b556334891f1907718?d=mp */
            gravatar: string;
            /** @example A Colleague */
            name: string;
            /** @example colleague */
            wpUsername: string;
            /**
             * @description SFTP user name
             * @example null
             */
            username: string | null;
        };
        /** @description Null if no license was issued yet */
        ExtensionLicense: {
            id: number;
            siteId: number;
            /** @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b */
            licenseKey: string;
            /**
             * @description Unix time
             * @example 1769852000
             */
            issuedAt: number;
            /**
             * @description Unix time
             * @example null
             */
            revokedAt: number | null;
        };
        WholeSite: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            accountId: number;
            /**
             * @description Source site of a clone
             * @example null
             */
            clonedFromId: number | null;
            /** @example 1 */
            collaboratorsCount: number;
            /**
             * @description N/A if not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A if not applicable
             * @example Amsterdam
             */
            datacenterName: string;
            /** @example My first site */
            displayName: string;
            /** @example 0 */
            domainsCount: number;
            ecommerce: boolean;
            /** @enum {string} */
            edgeCache: "enabled" | "disabled";
            edgeCacheDefensiveMode: boolean;
            /**
             * @description Unix time
             * @example null
             */
            edgeCacheDefensiveModeUntil: number | null;
            favorite: boolean;
            /**
             * @description Unique in this installation
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name without the scheme, with the port if it is not the default
             * @example my-first-site.example.com
             */
            url: string;
            staging: boolean;
            /** @example sftp.example.com */
            sftpDomain: string;
            /** @example 8.3 */
            phpVersion: string | null;
            /**
             * @description Descriptive text
             * @example Current Stable Release (6.8.7)
             */
            cmsVersion: string;
            tags: components["schemas"]["Tag"][];
            /**
             * @example production
             * @enum {string}
             */
            wpEnvironmentType: "local" | "development" | "staging" | "production";
            /** @example true */
            lightWeight404: boolean;
            multisiteSupport: boolean;
            /** @example 192.0.2.1 */
            ipAddress: string;
            /** @example 192.0.2.1 */
            ipAddressOne: string;
            /** @example 192.0.2.2 */
            ipAddressTwo: string;
            pageViews: components["schemas"]["PageViews"];
            /** @example my-first-site.example.com/wp-admin */
            cmsLoginUrl: string;
            collaborators: components["schemas"]["SiteCollaborator"][];
            ext: components["schemas"]["ExtensionLicense"] | null;
            status?: components["schemas"]["SiteStatus"];
        };
        SiteUpdate: {
            /**
             * @description Display name
             * @example My first site
             */
            name?: string;
            /**
             * @example 8.3
             * @enum {string}
             */
            php_version?: "8.1" | "8.2" | "8.3";
            /**
             * @description Applied by a background operation. Unless the type is `production`, all responses of the site tell search engines not to index it (`X-Robots-Tag`).
             * @enum {string}
             */
            wp_environment_type?: "local" | "development" | "staging" | "production";
        };
        Move: {
            /**
             * @description `native`: php-fpm on the site's host with MariaDB. `wasm`: PHP in WebAssembly with an SQLite file in the site directory
             * @example wasm
             * @enum {string}
             */
            runtime: "native" | "wasm";
            /**
             * @description PHP version after the move. Default: the current version
             * @example 8.3
             * @enum {string}
             */
            php_version?: "8.1" | "8.2" | "8.3";
        };
        Moving: {
            /** @example wasm */
            runtime: string;
            /** @example 8.3 */
            phpVersion: string;
        };
        SiteDetail: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            accountId: number;
            /**
             * @description Source site of a clone
             * @example null
             */
            clonedFromId: number | null;
            /** @example 1 */
            collaboratorsCount: number;
            /**
             * @description N/A if not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A if not applicable
             * @example Amsterdam
             */
            datacenterName: string;
            /** @example My first site */
            displayName: string;
            /** @example 0 */
            domainsCount: number;
            ecommerce: boolean;
            /** @enum {string} */
            edgeCache: "enabled" | "disabled";
            edgeCacheDefensiveMode: boolean;
            /**
             * @description Unix time
             * @example null
             */
            edgeCacheDefensiveModeUntil: number | null;
            favorite: boolean;
            /**
             * @description Unique in this installation
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name without the scheme, with the port if it is not the default
             * @example my-first-site.example.com
             */
            url: string;
            staging: boolean;
            /** @example sftp.example.com */
            sftpDomain: string;
            /** @example 8.3 */
            phpVersion: string | null;
            /**
             * @description Descriptive text
             * @example Current Stable Release (6.8.7)
             */
            cmsVersion: string;
            tags: components["schemas"]["Tag"][];
            /**
             * @example production
             * @enum {string}
             */
            wpEnvironmentType: "local" | "development" | "staging" | "production";
            /** @example true */
            lightWeight404: boolean;
            multisiteSupport: boolean;
            /** @example 192.0.2.1 */
            ipAddress: string;
            /** @example 192.0.2.1 */
            ipAddressOne: string;
            /** @example 192.0.2.2 */
            ipAddressTwo: string;
            pageViews: components["schemas"]["PageViews"];
            /** @example my-first-site.example.com/wp-admin */
            cmsLoginUrl: string;
            collaborators: components["schemas"]["SiteCollaborator"][];
            ext: components["schemas"]["ExtensionLicense"] | null;
        };
        NewClone: {
            /**
             * @description may have letters, digits and dashes only, with no dash at the start or the end (no periods, spaces or other characters)
             * @example my-first-copy
             */
            name: string;
            /** @description Default: false */
            staging?: boolean;
            /** @description Default: the datacenter of the source */
            datacenter_code?: string;
        };
        SafeMode: {
            /** @example true */
            enabled: boolean;
        };
        SiteMatch: {
            /** @example 12 */
            id: number;
            /** @example shop-one */
            name: string;
            /** @example Shop One */
            display_name: string;
            /** @example shop.example.com */
            primary_domain: string | null;
            staging: boolean;
        };
        PersonMatch: {
            /** @example ada@example.com */
            email: string;
            /** @example Ada */
            name: string;
        };
        SearchResults: {
            sites: components["schemas"]["SiteMatch"][];
            people: components["schemas"]["PersonMatch"][];
        };
        Zone: {
            id: number;
            /** @example example.com */
            name: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
        };
        DnsRecord: {
            id: number;
            zoneId: number;
            /** @description Whether a site uses the zone for its primary domain */
            primary: boolean;
            /** @example A */
            type: string;
            /**
             * @description Part before the name of the zone. Empty for the zone itself
             * @example www
             */
            name: string;
            /**
             * @description As you wrote it. Host names (CNAME, MX, NS, SRV) end with a dot
             * @example 192.0.2.1
             */
            value: string;
            /** @example null */
            priority: number | null;
            /** @example null */
            weight: number | null;
            /** @example null */
            port: number | null;
            /**
             * @description Seconds
             * @example 3600
             */
            ttl: number;
            /** @description Id of the site that the record points to */
            siteId: number | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
        };
        ZoneWithRecords: {
            id: number;
            /** @example example.com */
            name: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            updated: string;
            records: components["schemas"]["DnsRecord"][];
        };
        NewDnsRecord: {
            /**
             * @description One of A, AAAA, CNAME, MX, TXT, SRV, NS, CAA, HTTPS, TLSA, SSHFP
             * @example A
             */
            type: string;
            /**
             * @description Part before the name of the zone, or the full name. `@`, empty or absent for the zone itself
             * @example mail
             */
            name?: string;
            /**
             * @description An address (A, AAAA), a host name (CNAME, MX, NS, SRV), a text (TXT), or `0 issue "ca.example"` (CAA), `1 . alpn="h2,h3"` (HTTPS), `3 1 1 <hex>` (TLSA), or `4 2 <hex>` (SSHFP). An A record with `site_id` needs none
             * @example 192.0.2.1
             */
            value?: string;
            /** @description Required for MX and SRV: 0 to 65535 */
            priority?: number;
            /** @description Required for SRV: 0 to 65535 */
            weight?: number;
            /** @description Required for SRV: 0 to 65535 */
            port?: number;
            /** @description Seconds. Default: the TTL of other records with this name and type, otherwise 3600 */
            ttl?: number;
            /** @description Id of the site that the name points to (A records only) */
            site_id?: number;
        };
        MailProvider: {
            /**
             * @description google_workspace, microsoft_365, zoho_mail, icloud_mail, titan_mail, rackspace_email; also g-suite, microsoft-office365, zoho-mail, apple-icloud-mail, titan-mail
             * @example google_workspace
             */
            provider: string;
        };
        SslDetails: {
            /**
             * @description "true" if visitors are redirected to https, otherwise "false"
             * @example false
             */
            force_ssl?: string;
            /**
             * @description URL of the order at the certificate authority
             * @example https://ca.example/order/7
             */
            acme_certificate_id?: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            validation_expiration?: string | null;
            /**
             * @description URL of the authorization at the certificate authority
             * @example https://ca.example/authz/7
             */
            authz_uri?: string | null;
            options?: string[];
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            certificate_expiration_date?: string | null;
            /**
             * @description Name without a certificate
             * @example null
             */
            broken_record: string | null;
            /**
             * @description Why the name gets no new certificate
             * @example null
             */
            broken_check: string | null;
        };
        SslRetry: {
            /** @example false */
            force_ssl?: boolean;
        };
        ZoneFile: {
            /** @example mail 3600 IN A 192.0.2.1 */
            file: string;
            /**
             * @description Add the complete file or nothing
             * @example false
             */
            strict?: boolean;
        };
        ZoneFileLeftOut: {
            /**
             * @description Line number in the file, from 1
             * @example 3
             */
            line: number;
            /**
             * @description Beginning of the line
             * @example @ ALIAS shops.example.net.
             */
            text: string;
            /** @example ALIAS is not a DNS type. */
            reason: string;
        };
        ImportedZone: {
            id: number;
            /** @example example.com */
            name: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            updated: string;
            records: components["schemas"]["DnsRecord"][];
            /** @description Lines that were left out */
            leftOut: components["schemas"]["ZoneFileLeftOut"][];
        };
        ZoneFileToPreview: {
            /** @example mail 3600 IN A 192.0.2.1 */
            file: string;
        };
        ZoneFileTaken: {
            /**
             * @description Line number in the file, from 1
             * @example 3
             */
            line: number;
            /** @example A */
            type: string;
            /**
             * @description Part before the name of the zone. Empty for the zone itself
             * @example mail
             */
            name: string;
            /** @example 192.0.2.1 */
            value: string;
            /**
             * @description False: an identical record exists
             * @example true
             */
            isNew: boolean;
        };
        ZoneFilePreview: {
            /** @description Lines that become records */
            taken: components["schemas"]["ZoneFileTaken"][];
            /** @description Lines that would be left out */
            leftOut: components["schemas"]["ZoneFileLeftOut"][];
        };
        DnssecKey: {
            /** @example 20326 */
            tag: number;
            /**
             * @description `published`: Stead waits for its DS record. `active`: it signs. `retired`: Stead will remove it
             * @example active
             */
            state: string;
            /** @description Whether the parent zone contained its DS record at the last check */
            has_ds: boolean;
            /**
             * @description DS record for the registrar
             * @example 20326 13 2 E06D44B8…
             */
            ds: string;
            /**
             * @description Public key, for registrars that require it
             * @example 257 3 13 mdsswUyr…
             */
            dnskey: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
        };
        Dnssec: {
            enabled: boolean;
            /**
             * @description `off`: not signed. `signed`: signed, but without a DS record. `secure`: resolvers verify the signatures. `rolling`: Stead is replacing the key. `leaving`: signed until no resolver trusts the key
             * @example signed
             */
            status: string;
            /**
             * @description What to do next
             * @example Give the DS record to the registrar of the domain.
             */
            advice: string;
            keys: components["schemas"]["DnssecKey"][];
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            looked_at: string | null;
            /**
             * @description Why Stead could not check the parent zone
             * @example null
             */
            fault: string | null;
        };
        DnssecChange: {
            /** @example true */
            enabled: boolean;
        };
        DefensiveMode: {
            /** @example true */
            active: boolean;
            /**
             * @description Unix time. Null while defensive mode is off
             * @example 1769852000
             */
            active_until: number | null;
        };
        EdgeCache: {
            /** @example true */
            active: boolean;
            defensive_mode: components["schemas"]["DefensiveMode"];
        };
        Switch: {
            /**
             * @description State to set. If absent, the request toggles the state
             * @example true
             */
            enabled?: boolean;
        };
        SetDefensiveModeBody: {
            /**
             * @description Null or absent turns the mode off
             * @example 2-hours
             * @enum {string|null}
             */
            duration?: "30-minutes" | "45-minutes" | "1-hour" | "2-hours" | "3-hours" | "4-hours" | "5-hours" | "6-hours" | "7-hours" | "8-hours" | "9-hours" | "10-hours" | "11-hours" | "12-hours" | "13-hours" | "14-hours" | "15-hours" | "16-hours" | "17-hours" | "18-hours" | "19-hours" | "20-hours" | "21-hours" | "22-hours" | "23-hours" | "1-day" | "2-days" | "3-days" | "4-days" | "5-days" | "6-days" | "7-days" | null;
        };
        Cdn: {
            /** @example true */
            cdnEnabled: boolean;
        };
        Light404: {
            /** @example true */
            lightWeight404Enabled: boolean;
        };
        MuPlugin: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /** @example https://plugins.example.com/agency-tools.php */
            path: string;
            /**
             * @description File name of the plugin on the sites
             * @example agency-tools.php
             */
            slug: string;
            /** @description Whether existing sites got the plugin */
            existingSites: boolean;
            /** @description Whether new sites get the plugin */
            futureSites: boolean;
        };
        CreateMuPluginBody: {
            /**
             * @description Public https URL of one .php file
             * @example https://plugins.example.com/agency-tools.php
             */
            path: string;
            /** @example true */
            existing_sites: boolean;
            /** @example true */
            future_sites: boolean;
        };
        ChangedMuPlugin: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /** @example https://plugins.example.com/agency-tools.php */
            path: string;
            /**
             * @description File name of the plugin on the sites
             * @example agency-tools.php
             */
            slug: string;
            /** @description Whether existing sites got the plugin */
            existing_sites: boolean;
            /** @description Whether new sites get the plugin */
            future_sites: boolean;
        };
        OndemandBackup: {
            /**
             * @description Null until the backup is completed
             * @example 12
             */
            id: string | null;
            siteId: number;
            /**
             * @description Unix time
             * @example 1769852000
             */
            completed: number | null;
            /** @enum {string} */
            status: "creating" | "completed" | "deleting";
            /**
             * @description Files or database
             * @enum {string}
             */
            type: "fs" | "db";
            /**
             * @description Size of the download in bytes. Null until the backup is completed. For very large file backups, and file backups taken by a sync, Stead sets it some time later
             * @example 73400320
             */
            bytes: string | null;
            /**
             * @description Unix time
             * @example 1769852000
             */
            requested: number;
            /**
             * @description Time that the backup shows, in UTC
             * @example 2026-01-31 09:30:00
             */
            backupTimestamp: string | null;
            /** @example Ada (ada@example.com) */
            createdBy: string;
            /**
             * @description Time until Stead deletes the backup
             * @example 30 days
             */
            removedIn: string;
            /**
             * @description Unix time. Moves to an earlier time when a newer backup is completed
             * @example 1772444000
             */
            deleteAt: number;
        };
        NewBackup: {
            /**
             * @description Files or database
             * @enum {string}
             */
            backup_type: "fs" | "db";
        };
        OrderedBackup: {
            /**
             * @description Null until the backup is completed
             * @example 12
             */
            id: string | null;
            siteId: number;
            /**
             * @description Unix time
             * @example 1769852000
             */
            completed: number | null;
            /** @enum {string} */
            status: "creating" | "completed" | "deleting";
            /**
             * @description Files or database
             * @enum {string}
             */
            type: "fs" | "db";
            /**
             * @description Size of the download in bytes. Null until the backup is completed. For very large file backups, and file backups taken by a sync, Stead sets it some time later
             * @example 73400320
             */
            bytes: string | null;
            /**
             * @description Unix time
             * @example 1769852000
             */
            requested: number;
            /**
             * @description Time that the backup shows, in UTC
             * @example 2026-01-31 09:30:00
             */
            backupTimestamp: string | null;
            /** @example Ada (ada@example.com) */
            createdBy: string;
            /**
             * @description Time until Stead deletes the backup
             * @example 30 days
             */
            removedIn: string;
            /**
             * @description Unix time. Moves to an earlier time when a newer backup is completed
             * @example 1772444000
             */
            deleteAt: number;
            /**
             * @description The `id` of the backup once it is completed
             * @example 12
             */
            requestId: number;
        };
        BackupPair: {
            /**
             * @description Time of the database backup, in UTC
             * @example 2026-01-31-09-30
             */
            timestamp: string;
            siteId: number;
            databaseBackupId: number;
            /** @description The latest file backup taken before the database backup */
            filesystemBackupId: number | null;
        };
        BackupDetails: {
            /**
             * @description `ondemand`: requested. `scheduled`: taken by Stead every night or hour. `undo`: taken before a change
             * @enum {string}
             */
            origin: "ondemand" | "scheduled" | "undo";
            /**
             * @description Null: Stead
             * @example Ada (ada@example.com)
             */
            createdBy: string | null;
            /**
             * @description Size of the files, or of the dump
             * @example 73400320
             */
            bytes: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            deleteAt: string;
            /**
             * @description What the storage lost of it. The rest can be restored
             * @example null
             */
            damage: string | null;
        };
        Backup: {
            /** @example 12 */
            id: string;
            site_id: number;
            /**
             * @description Time that the backup shows, in UTC
             * @example 2026-01-31 09:30:00
             */
            backup_timestamp: string;
            /** @enum {string} */
            type: "fs" | "db";
            /** @example Files of 2026-01-31 09:30 (on-demand) */
            title: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            formatted_timestamp: string;
            details?: components["schemas"]["BackupDetails"];
        };
        NewRestore: {
            /**
             * @description Id of a file backup of the site
             * @example 12
             */
            filesystem_id?: number;
            /**
             * @description Id of a database backup of the site
             * @example 13
             */
            database_id?: number;
            /** @description Another site of the same account to overwrite instead */
            restore_on_site_id?: number;
            /** @description Report what a restore would lose, without changing anything */
            dry_run?: boolean;
            /** @description Files and folders to restore from the file backup. Others do not change */
            paths?: string[];
            /** @description Tables to restore from the database backup. Others do not change */
            tables?: string[];
        };
        RestorePreviewFiles: {
            /** @example 2 */
            count: number;
            /** @example 81920 */
            bytes: number;
            /** @description First 100, ordered by path */
            first: string[];
        };
        /** @description The restore would add or change `written` files and delete `removed` files, which are not in the backup */
        RestorePreviewOfFiles: {
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            takenAt: string;
            written: components["schemas"]["RestorePreviewFiles"];
            removed: components["schemas"]["RestorePreviewFiles"];
        };
        RestorePreviewCount: {
            /** @example wp_posts */
            table: string;
            /**
             * @description Type of the post or order, or comment or user
             * @example post
             */
            kind: string;
            /**
             * @description Created since the backup. The restore would delete them
             * @example 3
             */
            new: number;
            /**
             * @description Changed since the backup. The restore would revert them
             * @example 1
             */
            changed: number;
        };
        RestorePreviewItem: {
            /** @example wp_posts */
            table: string;
            /** @example post */
            kind: string;
            id: number;
            /** @example A new post */
            title: string;
            /**
             * @description UTC
             * @example 2026-01-31 09:30:00
             */
            at: string;
        };
        RestorePreviewOfDatabase: {
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            takenAt: string;
            /** @description Up to 1,000, largest first. For a network, the tables of all its sites */
            counts: components["schemas"]["RestorePreviewCount"][];
            /** @description The newest 100 entries that the restore would delete */
            newest: components["schemas"]["RestorePreviewItem"][];
        };
        RestorePreview: {
            /** @description Site that the restore would overwrite */
            siteId: number;
            files: components["schemas"]["RestorePreviewOfFiles"] | null;
            database: components["schemas"]["RestorePreviewOfDatabase"] | null;
        };
        /** @description Progress of a step that transfers bytes. The total may be an estimate until the end */
        StepBytes: {
            /** @example 1048576 */
            done: number;
            /** @example 52428800 */
            total: number;
        };
        OperationStep: {
            /** @example files */
            name: string;
            /** @example succeeded */
            state: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            startedAt: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            finishedAt: string | null;
            /** @example null */
            error: string | null;
            /**
             * @description What a completed step could not do
             * @example null
             */
            warning: string | null;
            bytes: components["schemas"]["StepBytes"] | null;
            /**
             * @description Estimated seconds until the step is completed. Null if unknown
             * @example null
             */
            secondsLeft: number | null;
        };
        SiteResult: {
            siteId: number;
            /**
             * @description Part of the site that the result is about, such as a plugin
             * @example null
             */
            subject: string | null;
            /**
             * @description Outcome, such as added, updated, unchanged, removed, absent, skipped or failed
             * @example added
             */
            outcome: string;
            /** @example null */
            message: string | null;
            /**
             * @description Id of the operation that completes the work on that site
             * @example null
             */
            operationId: number | null;
        };
        OperationAction: {
            /**
             * @example undo
             * @enum {string}
             */
            action: "cancel" | "retry" | "undo" | "pause" | "continue";
            allowed: boolean;
            /**
             * @description Error that the action would return
             * @example null
             */
            reason: string | null;
        };
        Operation: {
            id: number;
            /**
             * @description Type of the operation, such as site.provision
             * @example site.provision
             */
            type: string;
            siteId: number | null;
            /**
             * @description Display name of the site. Null if the site is not there. Only present in lists
             * @example My first site
             */
            siteName?: string | null;
            /**
             * @description Person who asked for the operation. Null if Stead started it. Only present in lists
             * @example owner@example.com
             */
            accountEmail?: string | null;
            /**
             * @example succeeded
             * @enum {string}
             */
            state: "queued" | "running" | "succeeded" | "failed" | "canceled";
            /**
             * @description 0 to 100
             * @example 100
             */
            progress: number;
            steps: components["schemas"]["OperationStep"][];
            /** @description Results for each site, or each part of a site. Only present if you get one operation by its id */
            results?: components["schemas"]["SiteResult"][];
            /** @description Actions that the state of the operation allows, and whether you have access. Not present in streams and in responses to changes */
            actions?: components["schemas"]["OperationAction"][];
            attempts: number;
            /**
             * @description Why the operation failed. For a queued operation, why its last attempt failed
             * @example null
             */
            error: string | null;
            /**
             * @description When a person paused the operation. Null if it is not paused, or has ended
             * @example null
             */
            pausedAt: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            startedAt: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            finishedAt: string | null;
        };
        NewSync: {
            /**
             * @description Site to copy from. It does not change
             * @example 1
             */
            from_site_id: number;
            /**
             * @description Site to overwrite
             * @example 2
             */
            to_site_id: number;
            /**
             * @description Sync theme files
             * @example false
             */
            themes_directory?: boolean;
            /**
             * @description Sync plugin files
             * @example false
             */
            plugins_directory?: boolean;
            /**
             * @description Sync media uploads. To list them in the media library, also sync the database
             * @example true
             */
            uploads_directory?: boolean;
            /**
             * @description Sync all other files in wp-content
             * @example false
             */
            wp_content_directory?: boolean;
            /**
             * @description Sync the web root without wp-content. The destination keeps its wp-config.php
             * @example false
             */
            root_directory?: boolean;
            /**
             * @description Skip the homepage check of the destination
             * @example false
             */
            skip_http_check?: boolean;
            /**
             * @description Overwrite the complete database of the destination
             * @example true
             */
            database?: boolean;
            /**
             * @description Environment type of the destination after the sync. Default: its current type
             * @enum {string}
             */
            wp_environment_type?: "local" | "development" | "staging" | "production";
        };
        /** @description The live site. Null if you cannot see it */
        LiveSite: {
            id: number;
            /** @example my-first-site */
            name: string;
            /** @example My first site */
            displayName: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name without the scheme
             * @example my-first-site.example.com
             */
            url: string;
            staging: boolean;
            /**
             * @example production
             * @enum {string}
             */
            wpEnvironmentType: "local" | "development" | "staging" | "production";
        };
        Environment: {
            id: number;
            /** @example my-first-site */
            name: string;
            /** @example My first site */
            displayName: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name without the scheme
             * @example my-first-site.example.com
             */
            url: string;
            staging: boolean;
            /**
             * @example production
             * @enum {string}
             */
            wpEnvironmentType: "local" | "development" | "staging" | "production";
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            linkedAt: string;
            /**
             * @description When it last had the same database as the live site. Null if Stead does not know
             * @example 2026-01-31T09:30:00.000Z
             */
            syncedAt: string | null;
        };
        Environments: {
            live: components["schemas"]["LiveSite"] | null;
            /** @description Those that you can see, in order of their links */
            environments: components["schemas"]["Environment"][];
        };
        NewEnvironment: {
            /**
             * @description Name of the copy. It may have letters, digits and dashes
             * @example my-first-site-staging
             */
            name?: string;
            /**
             * @description Whether the copy is a staging site. Default: true
             * @example true
             */
            staging?: boolean;
            /** @description Of the copy. Default: the datacenter of the live site */
            datacenter_code?: string;
            /** @description Existing site to link, instead of a copy */
            site_id?: number;
        };
        Transfer: {
            /**
             * @example chosen
             * @enum {string}
             */
            preset: "everything" | "code" | "content" | "chosen";
            /** @description Only for `chosen`. `content` is all of wp-content without themes, plugins and uploads. `root` is the web root without wp-content */
            folders?: ("themes" | "plugins" | "mu-plugins" | "uploads" | "content" | "root")[];
            /**
             * @description Only for `chosen`: overwrite the whole database
             * @example false
             */
            database?: boolean;
            /**
             * @description Only for `chosen`: overwrite these tables. Others do not change
             * @example [
             *       "wp_posts",
             *       "wp_postmeta"
             *     ]
             */
            tables?: string[];
            /**
             * @description Skip the homepage check
             * @example false
             */
            skip_http_check?: boolean;
            /**
             * @description Report what would be overwritten, without changing anything
             * @example true
             */
            dry_run?: boolean;
        };
        SyncPreviewFiles: {
            /** @example 2 */
            count: number;
            /** @example 81920 */
            bytes: number;
            /** @description First 100, ordered by path */
            first: string[];
        };
        /** @description Exist on both sites, with other content */
        SyncPreviewChangedFiles: {
            /** @example 1 */
            count: number;
            /** @example 4096 */
            bytes: number;
            /** @description First 100, ordered by path */
            first: string[];
        };
        /** @description The sync would add, change and delete these files. Null for a sync without files */
        SyncPreviewOfFiles: {
            added: components["schemas"]["SyncPreviewFiles"];
            changed: components["schemas"]["SyncPreviewChangedFiles"];
            removed: components["schemas"]["SyncPreviewFiles"];
        };
        SyncPreviewTable: {
            /** @example wp_posts */
            table: string;
            /**
             * @description On the destination. Null without this table
             * @example 12
             */
            rows: number | null;
            /**
             * @description On the source. Null without this table
             * @example 14
             */
            fromRows: number | null;
        };
        SyncPreviewCount: {
            /** @example wp_posts */
            table: string;
            /**
             * @description Type of the post or order, or comment or user
             * @example shop_order
             */
            kind: string;
            /**
             * @description Created since then. The sync would delete them
             * @example 3
             */
            new: number;
            /**
             * @description Changed since then. The sync would revert them
             * @example 1
             */
            changed: number;
        };
        SyncPreviewItem: {
            /** @example wp_posts */
            table: string;
            /** @example shop_order */
            kind: string;
            id: number;
            /** @example A new post */
            title: string;
            /**
             * @description UTC
             * @example 2026-01-31 09:30:00
             */
            at: string;
        };
        /** @description Null for a sync without the database */
        SyncPreviewOfDatabase: {
            /**
             * @description When both sites last had the same database. Null if unknown: then everything counts as new
             * @example 2026-01-31T09:30:00.000Z
             */
            since: string | null;
            /** @description Tables that the sync would overwrite. Up to 500, ordered by name */
            tables: components["schemas"]["SyncPreviewTable"][];
            /** @description What is newer on the destination. Up to 1,000, largest first */
            counts: components["schemas"]["SyncPreviewCount"][];
            /** @description The newest 100 entries that the sync would delete */
            newest: components["schemas"]["SyncPreviewItem"][];
        };
        SyncPreview: {
            /** @description Site that the sync would overwrite */
            siteId: number;
            /** @description Site that the sync would copy from */
            fromSiteId: number;
            files: components["schemas"]["SyncPreviewOfFiles"] | null;
            database: components["schemas"]["SyncPreviewOfDatabase"] | null;
        };
        EnvironmentOfLiveSite: {
            /** @example 1 */
            liveSiteId: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            linkedAt: string;
            site: components["schemas"]["ListedSite"];
        };
        ImportUpload: {
            /**
             * @description Names the file in the path of its parts
             * @example 1
             */
            number: number;
            /** @example backup.wpress */
            name: string;
            /**
             * @description Size of the complete file
             * @example 81920000
             */
            bytes: number;
            /**
             * @description Where the next part begins
             * @example 8388608
             */
            received: number;
        };
        ImportSource: {
            /** @enum {string} */
            type: "ssh";
            /** @example ssh.example.com */
            host: string;
            /** @example 22 */
            port: number;
            /** @example me */
            user: string;
            /** @example public_html */
            path: string;
            /**
             * @description Fingerprint of the old machine’s host key; null until the first connection
             * @example SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8
             */
            hostKey: string | null;
        };
        ImportByPlugin: {
            /** @example https://old.example.com */
            address: string;
        };
        ImportFrom: {
            /**
             * @description Address of the old site
             * @example https://old.example.com
             */
            home: string;
            /** @example My site */
            title: string;
            /** @example 6.8 */
            wordpress: string | null;
            /** @example 7.4 */
            php: string | null;
        };
        ImportTo: {
            /** @example my-site.example.com */
            address: string;
            /** @example 6.8 */
            wordpress: string | null;
            /** @example 8.3 */
            php: string;
        };
        ImportFiles: {
            /** @example 2140 */
            count: number;
            /** @example 81920000 */
            bytes: number;
            /**
             * @description Links in the archive, which are left out
             * @example 0
             */
            links: number;
        };
        ImportDatabase: {
            /** @example 14 */
            tables: number;
            /** @example 5321 */
            rows: number;
            /**
             * @description Of the dump
             * @example 4100000
             */
            bytes: number;
            /**
             * @description Table prefix, which the site adopts
             * @example wp_
             */
            prefix: string;
        };
        ImportAddress: {
            /** @example old.example.com */
            from: string;
            /** @example my-site.example.com */
            to: string;
        };
        ImportPlugin: {
            /**
             * @description Below wp-content/plugins
             * @example akismet
             */
            path: string;
            /** @example Akismet Anti-spam */
            name: string;
            /** @example 5.3 */
            version: string | null;
            /** @example true */
            isActive: boolean;
            /** @example 7.2 */
            requiresPhp: string | null;
            /** @example 5.8 */
            requiresWordpress: string | null;
            /**
             * @description What it needs after the move
             * @example null
             */
            note: string | null;
        };
        ImportLeftOut: {
            /**
             * @description Below the web root
             * @example wp-content/object-cache.php
             */
            path: string;
            /**
             * @description Why it is left out; `host`: it belongs to the old host; `platform`: Stead adds its own
             * @enum {string}
             */
            reason: "drop-in" | "cache" | "host" | "backup" | "platform";
        };
        ImportPlan: {
            /**
             * @description The tool that created the archive; `files` means files and a dump of the database
             * @enum {string}
             */
            format: "wpress" | "updraftplus" | "duplicator" | "files";
            from: components["schemas"]["ImportFrom"];
            to: components["schemas"]["ImportTo"];
            files: components["schemas"]["ImportFiles"];
            database: components["schemas"]["ImportDatabase"];
            /** @description Host names that are rewritten everywhere */
            addresses: components["schemas"]["ImportAddress"][];
            plugins: components["schemas"]["ImportPlugin"][];
            themes: string[];
            /** @description Must-use plugins that are imported, below wp-content/mu-plugins */
            mustUsePlugins: string[];
            /** @description Left out unless the start says otherwise */
            leftOut: components["schemas"]["ImportLeftOut"][];
            warnings: string[];
            /** @description Reasons that keep the import from starting */
            blockers: string[];
        };
        ImportOldPage: {
            /** @example 200 */
            status: number;
            /** @example About */
            title: string;
        };
        ImportNewPage: {
            /** @example 200 */
            status: number;
            /** @example About */
            title: string;
        };
        ImportComparedPage: {
            /** @example /about/ */
            path: string;
            old: components["schemas"]["ImportOldPage"] | null;
            new: components["schemas"]["ImportNewPage"];
            /**
             * @description Share of equal words on both pages, in percent; null if the old site does not answer
             * @example 98
             */
            sameText: number | null;
            /**
             * @description Difference between the screenshots of both pages, in percent (their upper 1,280 × 1,600 pixels); null if they were not compared
             * @example 2.5
             */
            differentPicture: number | null;
            /**
             * @description Why the screenshots were not compared; null if they were
             * @example null
             */
            noPicture: string | null;
        };
        ImportChecklistItem: {
            /** @example Lower the TTL */
            title: string;
            /** @example Set it to 300 seconds. */
            text: string;
        };
        Import: {
            /** @example 1 */
            id: number;
            /**
             * @description `uploading`: its files are not complete yet; `waiting`: for its plugin on the old site; `inspecting`; `ready` with its `plan`; `importing`; `imported`; `failed`: it could not be inspected
             * @enum {string}
             */
            state: "uploading" | "waiting" | "inspecting" | "ready" | "importing" | "imported" | "failed";
            /** @description Addresses of its files, or the names of those that are uploaded */
            sources: string[];
            /** @description Files that are uploaded. Empty when Stead fetches them */
            uploads: components["schemas"]["ImportUpload"][];
            source: components["schemas"]["ImportSource"] | null;
            plugin: components["schemas"]["ImportByPlugin"] | null;
            plan: components["schemas"]["ImportPlan"] | null;
            /** @description The front page and five others, after the import */
            comparison: components["schemas"]["ImportComparedPage"][] | null;
            /** @description The steps until visitors reach the new site, in order */
            checklist: components["schemas"]["ImportChecklistItem"][];
            /**
             * @description Why the last attempt failed
             * @example null
             */
            error: string | null;
            /**
             * @description The last operation that worked on it
             * @example 12
             */
            operationId: number | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            expires: string;
        };
        NewImportUpload: {
            /** @example backup.wpress */
            name: string;
            /** @example 81920000 */
            bytes: number;
        };
        /** @description The running old site, instead of files */
        NewImportSource: {
            /**
             * @description `ssh`: a login by SSH with SFTP
             * @enum {string}
             */
            type: "ssh";
            /** @example ssh.example.com */
            host: string;
            /**
             * @description Default: 22
             * @example 22
             */
            port?: number;
            /**
             * @description User name of the login
             * @example me
             */
            user: string;
            /** @example a-password */
            password?: string;
            /**
             * @description Private key without a passphrase, instead of a password
             * @example -----BEGIN OPENSSH PRIVATE KEY-----
             *     …
             */
            private_key?: string;
            /**
             * @description Fingerprint (`SHA256:…`) or public key of the old machine. Without it, Stead trusts the first key and requires the same key afterwards
             * @example SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8
             */
            host_key?: string;
            /**
             * @description Folder of WordPress. A relative path starts in the folder of the login
             * @example public_html
             */
            path: string;
        };
        /** @description The running old site with a plugin of Stead, for hosts without SSH */
        NewImportPlugin: {
            /**
             * @description https address of the front page of the old site, without a folder
             * @example https://old.example.com
             */
            address: string;
        };
        NewImport: {
            /**
             * @description https addresses of the archive; several for a set of UpdraftPlus, or for files and a dump
             * @example [
             *       "https://old.example.com/backup.wpress"
             *     ]
             */
            urls?: string[];
            /** @description Files that you upload instead */
            files?: components["schemas"]["NewImportUpload"][];
            source?: components["schemas"]["NewImportSource"];
            plugin?: components["schemas"]["NewImportPlugin"];
            /**
             * @description Start automatically if the plan has no blockers
             * @example false
             */
            start?: boolean;
        };
        ImportStart: {
            /** @description Files and folders to leave out, instead of `leftOut` of the plan. Drop-ins of the old host are always left out */
            leave_out?: string[];
            /**
             * @description For an import from a running old site: fetch changed files and a fresh dump first. Default: true
             * @example true
             */
            fetch_again?: boolean;
        };
        CollaboratorWithRoles: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            updated: string;
            accountId: number;
            /** @example colleague@example.com */
            email: string;
            siteId: number;
            /** @example active */
            state: string;
            /**
             * @description WordPress user of a collaborator with the role wp_access
             * @example colleague
             */
            wpUsername: string;
            /** @example A Colleague */
            name: string;
            /** @example my-first-site */
            siteName: string;
            /**
             * @example [
             *       "manage_notes",
             *       "wp_access"
             *     ]
             */
            roles: ("clone_site" | "convert_site" | "create_collaborator" | "delete_collaborator" | "delete_site" | "disable_site" | "download_backups" | "enable_site" | "execute_bulk_operations" | "manage_dns" | "manage_git" | "manage_notes" | "manage_performance" | "db_admin_access" | "plugin_management_access" | "reset_collaborator_password" | "restore_site" | "sftp_access" | "update_site_custom_name" | "update_site_php_version" | "update_site_cms_version" | "wp_access")[];
        };
        UpdateAccountLevelAccessBody: {
            /**
             * @description E-mail address
             * @example colleague@example.com
             */
            email: string;
            /** @example true */
            add_to_all_new?: boolean;
            /** @example false */
            create_site?: boolean;
            /**
             * @description Default: none
             * @example [
             *       "manage_notes",
             *       "wp_access"
             *     ]
             */
            roles?: ("clone_site" | "convert_site" | "create_collaborator" | "delete_collaborator" | "delete_site" | "disable_site" | "download_backups" | "enable_site" | "execute_bulk_operations" | "manage_dns" | "manage_git" | "manage_notes" | "manage_performance" | "db_admin_access" | "plugin_management_access" | "reset_collaborator_password" | "restore_site" | "sftp_access" | "update_site_custom_name" | "update_site_php_version" | "update_site_cms_version" | "wp_access")[];
        };
        AccountAccess: {
            /** @example colleague@example.com */
            email: string;
            /** @example true */
            add_to_all_new: boolean;
            /** @example false */
            create_site: boolean;
        };
        BatchCreateCollaboratorsBody: {
            /**
             * @description E-mail address
             * @example colleague@example.com
             */
            email: string;
            siteIds: number[];
            /**
             * @description Default: none
             * @example [
             *       "manage_notes",
             *       "wp_access"
             *     ]
             */
            roles?: ("clone_site" | "convert_site" | "create_collaborator" | "delete_collaborator" | "delete_site" | "disable_site" | "download_backups" | "enable_site" | "execute_bulk_operations" | "manage_dns" | "manage_git" | "manage_notes" | "manage_performance" | "db_admin_access" | "plugin_management_access" | "reset_collaborator_password" | "restore_site" | "sftp_access" | "update_site_custom_name" | "update_site_php_version" | "update_site_cms_version" | "wp_access")[];
        };
        BatchDestroyCollaboratorsBody: {
            /**
             * @description E-mail address
             * @example colleague@example.com
             */
            email: string;
            siteIds: number[];
            /**
             * @description Default: false
             * @example false
             */
            delete_wp_user?: boolean;
        };
        Collaborator: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            updated: string;
            accountId: number;
            /** @example colleague@example.com */
            email: string;
            siteId: number;
            /** @example active */
            state: string;
            /**
             * @description WordPress user of a collaborator with the role wp_access
             * @example colleague
             */
            wpUsername: string;
            /** @example A Colleague */
            name: string;
            /** @example my-first-site */
            siteName: string;
        };
        AddSiteCollaboratorBody: {
            /**
             * @description E-mail address
             * @example colleague@example.com
             */
            email: string;
            /**
             * @description Default: none
             * @example [
             *       "manage_notes",
             *       "wp_access"
             *     ]
             */
            roles?: ("clone_site" | "convert_site" | "create_collaborator" | "delete_collaborator" | "delete_site" | "disable_site" | "download_backups" | "enable_site" | "execute_bulk_operations" | "manage_dns" | "manage_git" | "manage_notes" | "manage_performance" | "db_admin_access" | "plugin_management_access" | "reset_collaborator_password" | "restore_site" | "sftp_access" | "update_site_custom_name" | "update_site_php_version" | "update_site_cms_version" | "wp_access")[];
        };
        SiteRight: {
            /**
             * @description `operationId` of the operation in this document
             * @example updateSite
             */
            operation: string;
            /**
             * @description Field of the body. The entry applies to requests that send this field
             * @example php_version
             */
            field: string | null;
            allowed: boolean;
            /**
             * @description Error that the operation would return
             * @example You need the role update_site_php_version on this site for this operation.
             */
            reason: string | null;
        };
        TagNames: {
            /** @description Stead creates missing tags and keeps the site's current tags. An empty list changes nothing */
            tag_names: string[];
        };
        TagIds: {
            /**
             * @description Stead ignores ids of tags that the site does not have. An empty list changes nothing
             * @example [
             *       1
             *     ]
             */
            tag_ids: number[];
        };
        SiteWithAddresses: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            accountId: number;
            /**
             * @description Source site of a clone
             * @example null
             */
            clonedFromId: number | null;
            /** @example 1 */
            collaboratorsCount: number;
            /**
             * @description N/A if not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A if not applicable
             * @example Amsterdam
             */
            datacenterName: string;
            /** @example My first site */
            displayName: string;
            /** @example 0 */
            domainsCount: number;
            ecommerce: boolean;
            /** @enum {string} */
            edgeCache: "enabled" | "disabled";
            edgeCacheDefensiveMode: boolean;
            /**
             * @description Unix time
             * @example null
             */
            edgeCacheDefensiveModeUntil: number | null;
            favorite: boolean;
            /**
             * @description Unique in this installation
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name without the scheme, with the port if it is not the default
             * @example my-first-site.example.com
             */
            url: string;
            staging: boolean;
            /** @example sftp.example.com */
            sftpDomain: string;
            /** @example 8.3 */
            phpVersion: string | null;
            /**
             * @description Descriptive text
             * @example Current Stable Release (6.8.7)
             */
            cmsVersion: string;
            tags: components["schemas"]["Tag"][];
            /**
             * @example production
             * @enum {string}
             */
            wpEnvironmentType: "local" | "development" | "staging" | "production";
            /** @example true */
            lightWeight404: boolean;
            multisiteSupport: boolean;
            /**
             * @example [
             *       "192.0.2.1",
             *       "192.0.2.2"
             *     ]
             */
            ipAddresses: string[];
        };
        TagIdsIfAny: {
            /**
             * @description Stead ignores ids of tags that the site does not have. An empty list changes nothing
             * @example [
             *       1
             *     ]
             */
            tag_ids?: number[];
        };
        CollaboratorSites: {
            /** @example A Colleague */
            name: string;
            /** @example colleague@example.com */
            email: string;
            sites: components["schemas"]["SiteWithAddresses"][];
        };
        SitePlugin: {
            /**
             * @description Slug of the plugin. For a drop-in, its file name
             * @example akismet
             */
            name: string;
            /** @example Akismet Anti-spam */
            title: string;
            /**
             * @description May contain HTML
             * @example Used by millions.
             */
            description: string;
            /**
             * @description One of active, active-network (on all sites of a network), inactive, must-use, dropin
             * @example active
             */
            status: string;
            /**
             * @description Update status that WordPress knows: none, available, or version higher than expected
             * @example available
             */
            update: string;
            /** @example 5.3 */
            version: string;
            /**
             * @description Available version
             * @example 5.4
             */
            update_version: string | null;
        };
        PluginRelease: {
            /** @example akismet */
            path: string;
            /**
             * @description Default: the latest version
             * @example 5.3
             */
            version?: string;
        };
        PluginReleases: {
            plugins: components["schemas"]["PluginRelease"][];
        };
        /** @description `path` is the slug of the plugin */
        PluginPath: {
            /** @example akismet */
            path: string;
        };
        PluginPaths: {
            plugins: components["schemas"]["PluginPath"][];
        };
        SiteAdvice: {
            /**
             * @example shop_on_embedded_database
             * @enum {string}
             */
            code: "shop_on_embedded_database";
            /**
             * @description What to change, and why
             * @example This shop uses the embedded database. WooCommerce is designed for MariaDB, and the host of this site has it. To move the site, send PUT /v1/sites/{id}/runtime with {"runtime":"native","php_version":"8.3"}.
             */
            message: string;
            /**
             * @description PHP version of the site after the move. The current version, if it runs natively
             * @example 8.3
             * @enum {string}
             */
            phpVersion: "8.1" | "8.2" | "8.3";
        };
        SafeUpdateItem: {
            /**
             * @example plugin
             * @enum {string}
             */
            kind: "plugin" | "theme" | "core";
            /**
             * @description Folder of the plugin or theme. WordPress itself: `wordpress`
             * @example akismet
             */
            name: string;
            /**
             * @description The outcome before the comparison. If the update was undone, the site has `from` again
             * @example updated
             * @enum {string}
             */
            outcome: "updated" | "unchanged" | "failed";
            /** @example 5.3 */
            from: string | null;
            /** @example 5.4 */
            to: string | null;
            /** @example Updated akismet from 5.3 to 5.4 */
            message: string;
        };
        SafeUpdate: {
            /**
             * @description ID of the operation, too
             * @example 42
             */
            id: number;
            /**
             * @description `undone`: the comparison found a fault. `failed`: the update ended before it
             * @example kept
             * @enum {string}
             */
            state: "in_progress" | "kept" | "undone" | "failed" | "canceled";
            /**
             * @description Why it was undone, or failed
             * @example null
             */
            reason: string | null;
            items: components["schemas"]["SafeUpdateItem"][];
            /** @example 0 */
            differing_pages: number;
            /**
             * @description The safe update of many sites that it belongs to
             * @example 41
             */
            batch_id: number | null;
            /**
             * @description Whether the update policy of the site started it
             * @example false
             */
            by_policy: boolean;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            ended_at: string | null;
        };
        ThemeRelease: {
            /**
             * @description Its folder
             * @example twentytwentyfive
             */
            name: string;
            /**
             * @description Default: the latest version
             * @example 1.3
             */
            version?: string;
        };
        SafeUpdateOrder: {
            /**
             * @description Update WordPress, too: `latest`, or a stable release. `all` does not include it
             * @example latest
             */
            core?: string;
            /**
             * @description Update all plugins and themes that have an update
             * @example true
             */
            all?: boolean;
            plugins?: components["schemas"]["PluginRelease"][];
            themes?: components["schemas"]["ThemeRelease"][];
            /** @description More pages to compare. Together with those of the settings of the site, at most 10 */
            paths?: string[];
        };
        PageBeforeUpdate: {
            /**
             * @description HTTP status. 0: PHP did not answer
             * @example 200
             */
            status: number;
            /** @example Shop */
            title: string;
            /** @example 180 */
            response_ms: number;
        };
        PageAfterUpdate: {
            /**
             * @description HTTP status. 0: PHP did not answer
             * @example 200
             */
            status: number;
            /** @example Shop */
            title: string;
            /** @example 180 */
            response_ms: number;
        };
        SafeUpdatePicture: {
            /**
             * @description Width of the window in pixels
             * @example 1280
             */
            width: number;
            /**
             * @description Share of the picture that differs
             * @example 0.1
             */
            different_percent: number;
            /** @example false */
            is_different: boolean;
            /**
             * @description Path of the picture, if it differs. It requires the same token
             * @example /v1/sites/1/safe-updates/42/pictures/0/1280/before
             */
            before_location: string | null;
            /**
             * @description Path of the picture, if it differs. It requires the same token
             * @example /v1/sites/1/safe-updates/42/pictures/0/1280/after
             */
            after_location: string | null;
            /**
             * @description Path of the picture, if it differs. It requires the same token
             * @example /v1/sites/1/safe-updates/42/pictures/0/1280/difference
             */
            difference_location: string | null;
        };
        SafeUpdatePage: {
            /**
             * @description `own`: from `paths` of the request or of the site
             * @example front
             * @enum {string}
             */
            kind: "front" | "post" | "page" | "product" | "cart" | "login" | "own";
            /** @example / */
            path: string;
            before: components["schemas"]["PageBeforeUpdate"];
            after: components["schemas"]["PageAfterUpdate"] | null;
            /**
             * @description Faults that undo the update
             * @example [
             *       "status 200 became 500"
             *     ]
             */
            differences: string[];
            /**
             * @description Other observations. They undo nothing
             * @example []
             */
            notes: string[];
            /** @description Empty if no browser looked at the page */
            pictures: components["schemas"]["SafeUpdatePicture"][];
        };
        SafeUpdateMessage: {
            /** @example Warning */
            severity: string;
            /** @example Undefined variable $cart */
            message: string;
            /**
             * @description plugin, mu-plugin, theme, core, or empty
             * @example plugin
             */
            kind: string;
            /** @example forms */
            name: string;
            /**
             * @description Whether it is a fault that undoes the update
             * @example true
             */
            counts: boolean;
        };
        SafeUpdateReport: {
            /**
             * @description ID of the operation, too
             * @example 42
             */
            id: number;
            /**
             * @description `undone`: the comparison found a fault. `failed`: the update ended before it
             * @example kept
             * @enum {string}
             */
            state: "in_progress" | "kept" | "undone" | "failed" | "canceled";
            /**
             * @description Why it was undone, or failed
             * @example null
             */
            reason: string | null;
            items: components["schemas"]["SafeUpdateItem"][];
            /** @example 0 */
            differing_pages: number;
            /**
             * @description The safe update of many sites that it belongs to
             * @example 41
             */
            batch_id: number | null;
            /**
             * @description Whether the update policy of the site started it
             * @example false
             */
            by_policy: boolean;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            ended_at: string | null;
            pages: components["schemas"]["SafeUpdatePage"][];
            /** @description New kinds of messages in the PHP log since the update */
            log: components["schemas"]["SafeUpdateMessage"][];
            /**
             * @description Why pictures were not compared. Null: they were
             * @example null
             */
            pictures_missing: string | null;
        };
        SafeUpdateSettings: {
            /**
             * @description Elements that pictures leave out. Their text is still compared
             * @example [
             *       ".visitor-counter"
             *     ]
             */
            masks: string[];
            /**
             * @description More pages that every safe update compares
             * @example [
             *       "/checkout/"
             *     ]
             */
            paths: string[];
        };
        SafeUpdateSettingsUpdate: {
            /**
             * @description Elements that pictures leave out. Their text is still compared
             * @example [
             *       ".visitor-counter"
             *     ]
             */
            masks?: string[];
            /**
             * @description More pages that every safe update compares
             * @example [
             *       "/checkout/"
             *     ]
             */
            paths?: string[];
        };
        WordpressUpdate: {
            /**
             * @description Release of the site. Null: unknown
             * @example 6.8.1
             */
            installed: string | null;
            /**
             * @description Newer release. Null: none
             * @example 6.8.2
             */
            version: string | null;
            /**
             * @description Why the site cannot have the newest release
             * @example WordPress 6.9 requires PHP 8.1, and the site has 7.4.
             */
            obstacle: string | null;
        };
        SafeUpdateOfSite: {
            /**
             * @description ID of the operation, too
             * @example 42
             */
            id: number;
            /**
             * @description `undone`: the comparison found a fault. `failed`: the update ended before it
             * @example kept
             * @enum {string}
             */
            state: "in_progress" | "kept" | "undone" | "failed" | "canceled";
            /**
             * @description Why it was undone, or failed
             * @example null
             */
            reason: string | null;
            items: components["schemas"]["SafeUpdateItem"][];
            /** @example 0 */
            differing_pages: number;
            /**
             * @description The safe update of many sites that it belongs to
             * @example 41
             */
            batch_id: number | null;
            /**
             * @description Whether the update policy of the site started it
             * @example false
             */
            by_policy: boolean;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            ended_at: string | null;
            /** @example 12 */
            site_id: number;
            /**
             * @description Name of the site
             * @example Shop One
             */
            display_name: string;
        };
        SafeUpdateBatchOrder: {
            /** @description Sites to update. `-1`: all */
            siteIds: number[];
            /**
             * @description Update WordPress, too: `latest`, or a stable release. `all` does not include it
             * @example latest
             */
            core?: string;
            /**
             * @description Update all plugins and themes that have an update
             * @example true
             */
            all?: boolean;
            plugins?: components["schemas"]["PluginRelease"][];
            themes?: components["schemas"]["ThemeRelease"][];
        };
        SafeUpdateBatchPlugin: {
            /** @example akismet */
            path: string;
            /**
             * @description Null: the latest
             * @example null
             */
            version: string | null;
        };
        SafeUpdateBatchTheme: {
            /** @example twentytwentyfive */
            name: string;
            /**
             * @description Null: the latest
             * @example null
             */
            version: string | null;
        };
        /** @description Number of sites in each state */
        SafeUpdateBatchCounts: {
            /** @example 1 */
            waiting: number;
            /** @example 1 */
            in_progress: number;
            /** @example 1 */
            kept: number;
            /** @example 1 */
            undone: number;
            /** @example 1 */
            failed: number;
            /** @example 1 */
            canceled: number;
            /** @example 1 */
            skipped: number;
        };
        SafeUpdateBatchSite: {
            /** @example 12 */
            site_id: number;
            /**
             * @description Null if you do not see the site any longer
             * @example Shop One
             */
            display_name: string | null;
            /**
             * @description `waiting`: its update has not begun. `skipped`: it was not updated, and `reason` says why
             * @example kept
             * @enum {string}
             */
            state: "waiting" | "in_progress" | "kept" | "undone" | "failed" | "canceled" | "skipped";
            /**
             * @description Why it was skipped or undone, or failed
             * @example null
             */
            reason: string | null;
            /**
             * @description ID of its safe update
             * @example 42
             */
            update_id: number | null;
        };
        SafeUpdateBatch: {
            /**
             * @description ID of the operation, too
             * @example 41
             */
            id: number;
            /**
             * @description `failed`: the update of a site was undone or failed. A retry begins again with these sites
             * @example completed
             * @enum {string}
             */
            state: "in_progress" | "completed" | "failed" | "canceled";
            /**
             * @description Whether it updates everything that has an update
             * @example true
             */
            all: boolean;
            plugins: components["schemas"]["SafeUpdateBatchPlugin"][];
            themes: components["schemas"]["SafeUpdateBatchTheme"][];
            /**
             * @description The release of WordPress. Null: it stays
             * @example latest
             */
            core: string | null;
            counts: components["schemas"]["SafeUpdateBatchCounts"];
            sites: components["schemas"]["SafeUpdateBatchSite"][];
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            ended_at: string | null;
        };
        /** @description The policy that counts, with what the site inherits */
        EffectiveUpdatePolicy: {
            /**
             * @description `off`: nothing. `security`: once a day, what has a known vulnerability that the update fixes. `weekly`, `daily`: everything with an update
             * @example weekly
             * @enum {string}
             */
            mode: "off" | "security" | "weekly" | "daily";
            /**
             * @description Day of a weekly update
             * @example sunday
             * @enum {string}
             */
            weekday: "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday";
            /**
             * @description Hour in which updates begin. An hour that a change of the clock skips begins when it ends
             * @example 3
             */
            hour: number;
            /**
             * @description Name of the time zone of `weekday` and `hour`, such as `Europe/Berlin`
             * @example UTC
             */
            time_zone: string;
            /** @description Folders of plugins and themes that the policy never updates */
            exclude: string[];
        };
        UndoneUpdate: {
            /**
             * @example plugin
             * @enum {string}
             */
            kind: "plugin" | "theme";
            /**
             * @description Folder of the plugin or theme
             * @example akismet
             */
            name: string;
            /** @example 5.4 */
            version: string;
            /**
             * @description ID of the safe update
             * @example 42
             */
            update_id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            undone_at: string;
            /**
             * @description Whether the policy tries it again alone, because it was undone together with others
             * @example false
             */
            is_retried: boolean;
        };
        UpdatePolicy: {
            /**
             * @description `inherit`: the default of the account that owns the site. `off`: nothing. `security`: once a day, what has a known vulnerability that the update fixes. `weekly`, `daily`: everything with an update
             * @example weekly
             * @enum {string}
             */
            mode: "inherit" | "off" | "security" | "weekly" | "daily";
            /**
             * @description Day of a weekly update
             * @example sunday
             * @enum {string}
             */
            weekday: "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday";
            /**
             * @description Hour in which updates begin. An hour that a change of the clock skips begins when it ends
             * @example 3
             */
            hour: number;
            /**
             * @description Name of the time zone of `weekday` and `hour`, such as `Europe/Berlin`
             * @example UTC
             */
            time_zone: string;
            /** @description Folders of plugins and themes that the policy never updates */
            exclude: string[];
            effective: components["schemas"]["EffectiveUpdatePolicy"];
            /**
             * @description When Stead looks for updates next
             * @example 2026-02-01T03:00:00.000Z
             */
            next_at: string | null;
            /** @description Versions whose update was undone or failed. The policy does not install them again, or tries them one at a time */
            undone: components["schemas"]["UndoneUpdate"][];
            /**
             * @description Whether the operator has set a feed of vulnerabilities. Without one, `security` updates nothing
             * @example true
             */
            has_feed: boolean;
        };
        UpdatePolicyChange: {
            /**
             * @description `inherit`: the default of the account that owns the site. `off`: nothing. `security`: once a day, what has a known vulnerability that the update fixes. `weekly`, `daily`: everything with an update
             * @example weekly
             * @enum {string}
             */
            mode?: "inherit" | "off" | "security" | "weekly" | "daily";
            /**
             * @description Day of a weekly update
             * @example sunday
             * @enum {string}
             */
            weekday?: "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday";
            /**
             * @description Hour in which updates begin. An hour that a change of the clock skips begins when it ends
             * @example 3
             */
            hour?: number;
            /**
             * @description Name of the time zone of `weekday` and `hour`, such as `Europe/Berlin`
             * @example UTC
             */
            time_zone?: string;
            /** @description Folders of plugins and themes that the policy never updates */
            exclude?: string[];
        };
        DefaultUpdatePolicy: {
            /**
             * @description `off`: nothing. `security`: once a day, what has a known vulnerability that the update fixes. `weekly`, `daily`: everything with an update
             * @example weekly
             * @enum {string}
             */
            mode: "off" | "security" | "weekly" | "daily";
            /**
             * @description Day of a weekly update
             * @example sunday
             * @enum {string}
             */
            weekday: "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday";
            /**
             * @description Hour in which updates begin. An hour that a change of the clock skips begins when it ends
             * @example 3
             */
            hour: number;
            /**
             * @description Name of the time zone of `weekday` and `hour`, such as `Europe/Berlin`
             * @example UTC
             */
            time_zone: string;
            /** @description Folders of plugins and themes that the policy never updates */
            exclude: string[];
            /**
             * @description Whether the operator has set a feed of vulnerabilities. Without one, `security` updates nothing
             * @example true
             */
            has_feed: boolean;
        };
        DefaultUpdatePolicyChange: {
            /**
             * @description `off`: nothing. `security`: once a day, what has a known vulnerability that the update fixes. `weekly`, `daily`: everything with an update
             * @example weekly
             * @enum {string}
             */
            mode?: "off" | "security" | "weekly" | "daily";
            /**
             * @description Day of a weekly update
             * @example sunday
             * @enum {string}
             */
            weekday?: "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday";
            /**
             * @description Hour in which updates begin. An hour that a change of the clock skips begins when it ends
             * @example 3
             */
            hour?: number;
            /**
             * @description Name of the time zone of `weekday` and `hour`, such as `Europe/Berlin`
             * @example UTC
             */
            time_zone?: string;
            /** @description Folders of plugins and themes that the policy never updates */
            exclude?: string[];
        };
        InstalledVersion: {
            /** @example 5.3 */
            version: string;
            /** @example 9 */
            sites: number;
        };
        InstalledExtension: {
            /** @example akismet */
            slug: string;
            /** @example Akismet Anti-spam */
            name: string;
            /**
             * @description Number of sites that have it
             * @example 12
             */
            sites: number;
            /**
             * @description Number of sites where it is active
             * @example 11
             */
            active: number;
            /**
             * @description Number of sites where WordPress knows of an update
             * @example 3
             */
            update_due: number;
            /**
             * @description Number of sites where WordPress updates it automatically
             * @example 5
             */
            automatic_updates: number;
            /** @description Installed versions, those of the most sites first */
            versions: components["schemas"]["InstalledVersion"][];
        };
        SiteWithExtension: {
            /** @example 12 */
            id: number;
            /** @example shop-one */
            name: string;
            /** @example Shop One */
            display_name: string;
            /** @example shop.example.com */
            primary_domain: string | null;
            staging: boolean;
            /** @example 5.3 */
            version: string;
            active: boolean;
            /**
             * @description Available version, or null
             * @example 5.4
             */
            update_version: string | null;
            automatic_updates: boolean;
        };
        VulnerableVersion: {
            /** @example 2.0 */
            version: string;
            /** @example 3 */
            sites: number;
            /**
             * @description Oldest newer version without it, or null
             * @example 2.1
             */
            fixed_in: string | null;
        };
        Vulnerability: {
            /**
             * @description Its ID in the feed
             * @example 8b1b5ae9-7d5c-4e0f-8a30-2f9c5f0e6d4e
             */
            id: string;
            /** @example Best Forms <= 2.0: stored cross-site scripting */
            title: string;
            /**
             * @description `core` is WordPress itself
             * @enum {string}
             */
            kind: "plugin" | "theme" | "core";
            /**
             * @description `wordpress` for WordPress itself
             * @example best-forms
             */
            slug: string;
            /** @example Best Forms */
            name: string;
            /** @enum {string|null} */
            severity: "low" | "medium" | "high" | "critical" | null;
            /**
             * @description CVSS score from 0 to 10
             * @example 6.4
             */
            score: number | null;
            /** @example CVE-2026-12345 */
            cve: string | null;
            /**
             * @description Page with more about it
             * @example https://example.com/report
             */
            link: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            published_at: string | null;
            /**
             * @description Number of sites with an affected version
             * @example 3
             */
            sites: number;
            /** @description Affected versions on your sites, those of the most sites first */
            versions: components["schemas"]["VulnerableVersion"][];
        };
        CmsVersion: {
            /**
             * @description Default: switch between stable and beta
             * @example latest
             * @enum {string}
             */
            version?: "latest";
        };
        ListedDomain: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /** @description Whether this is the primary domain, to which the site's other domains redirect */
            primary: boolean;
            /**
             * @description Part before the name of the zone. Null for the zone itself
             * @example www
             */
            name: string | null;
            /** @description Whether the domain points to Stead and the edge responds for it */
            healthy: boolean;
            /** @description Whether the name points only to the addresses of the edge */
            dnsConfirmed: boolean;
            /** @description Whether the edge knows the domain */
            provisioned: boolean;
            /** @example www.example.com */
            domainName: string;
            /**
             * @example [
             *       "192.0.2.1",
             *       "192.0.2.2"
             *     ]
             */
            ipAddresses: string[];
            /** @example ARecord */
            type: string;
            /** @example A */
            displayType: string;
            zoneId: number;
            /**
             * @description Why it is not healthy, as seen at the last check
             * @example www.example.com has no address in the DNS; it must be one of 192.0.2.1
             */
            reason?: string | null;
        };
        NewDomain: {
            /**
             * @description Host name to add. `*.example.com` stands for all names one label below `example.com` that are not domains themselves
             * @example www.example.com
             */
            name: string;
            /** @description One entry per address, with the id of its record */
            separate_records?: boolean;
        };
        Domain: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /** @description Whether this is the primary domain, to which the site's other domains redirect */
            primary: boolean;
            /**
             * @description Part before the name of the zone. Null for the zone itself
             * @example www
             */
            name: string | null;
            /** @description Whether the domain points to Stead and the edge responds for it */
            healthy: boolean;
            /** @description Whether the name points only to the addresses of the edge */
            dnsConfirmed: boolean;
            /** @description Whether the edge knows the domain */
            provisioned: boolean;
            /** @example www.example.com */
            domainName: string;
            /**
             * @example [
             *       "192.0.2.1",
             *       "192.0.2.2"
             *     ]
             */
            ipAddresses: string[];
        };
        PrimaryDomain: {
            /** @description One entry per address, with the id of its record */
            separate_records?: boolean;
        };
        DomainClaim: {
            /** @example example.com */
            domain: string;
            /**
             * @description `claimant`: this site claims the domain. `holder`: another account claims a domain of this site
             * @enum {string}
             */
            role: "claimant" | "holder";
            /**
             * @description Host name that the site gets when the domain moves. Null for the holder
             * @example www.example.com
             */
            domainName: string | null;
            /**
             * @description TXT record that proves the claim. Without it, the claim ends
             * @example _stead-challenge.example.com
             */
            recordName: string;
            /**
             * @description Value of that record. Null for the holder
             * @example stead-Hn2vGkqT0m4yW8rZ
             */
            recordValue: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            movesAt: string;
        };
        SftpUser: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            accessed: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            modified: string;
            accountId: number;
            /** @example sftp.example.com */
            sftpDomain: string;
            siteId: number;
            /** @example my-first-site */
            siteName: string;
            /** @example my-first-site_1 */
            username: string;
            /** @description Id of the account that owns the site */
            owner: boolean;
            /** @example owner@example.com */
            email: string;
            /**
             * @description Null: SFTP is off
             * @example 2222
             */
            sftpPort?: number | null;
        };
        SftpKey: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description Comment of the key
             * @example me@laptop
             */
            name: string;
            /** @example ssh-ed25519 */
            type: string;
            /** @example SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU */
            fingerprint: string;
        };
        NewSftpKey: {
            /**
             * @description A line as in `~/.ssh/id_ed25519.pub`. Accepts ssh-ed25519, ecdsa-sha2-nistp…, and ssh-rsa with at least 2,048 bits
             * @example ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBxSxnVbFVFF9zWQ6Ky5hLYDZ1GlDbrnAjGYgdzvCT8P me@laptop
             */
            public_key: string;
        };
        CreateOneTimeLoginBody: {
            /**
             * @description E-mail address of the person to log in
             * @example colleague@example.com
             */
            email: string;
            /**
             * @description `User-Agent` header of the browser that will open the link
             * @example Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0
             */
            user_agent: string;
        };
        LoginLink: {
            /** @example http://my-first-site.example.com/wp-login.php?stead_login=… */
            url: string;
        };
        Note: {
            id: number;
            /** @example owner@example.com */
            author: string;
            /**
             * @description Person who last changed the note
             * @example owner@example.com
             */
            editor: string;
            /** @example Opening hours */
            subject: string;
            /**
             * @description May contain HTML. Stead stores it unchanged
             * @example <p>They change in May.</p>
             */
            body: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            updated: string;
        };
        NewNote: {
            /** @example Opening hours */
            subject: string;
            /** @example <p>They change in May.</p> */
            body: string;
        };
        NoteUpdate: {
            /** @example Opening hours */
            subject?: string;
            /** @example <p>They change in May.</p> */
            body?: string;
        };
        ServerLogEntry: {
            /** @example 18432 */
            body_bytes_sent: number;
            /**
             * @description Edge cache status. Empty if the cache was not used
             * @example HIT
             */
            cached: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            date: string;
            /**
             * @description `h2` for HTTP/2, otherwise empty
             * @example
             */
            http2: string;
            /** @example my-first-site.example.com */
            http_host: string;
            /** @example  */
            http_referer: string;
            /** @example Mozilla/5.0 */
            http_user_agent: string;
            /** @example HTTP/1.1 */
            http_version: string;
            /**
             * @description Header from the visitor, not verified
             * @example
             */
            http_x_forwarded_for: string;
            /**
             * @description Source of the body: `php`, `static` or `edge`
             * @example php
             */
            renderer: string;
            /**
             * @description `OK`, or empty if the visitor did not receive the complete response
             * @example OK
             */
            request_completion: string;
            /**
             * @description Seconds
             * @example 0.004
             */
            request_time: number;
            /** @example GET */
            request_type: string;
            /** @example /hello-world/ */
            request_url: string;
            /** @example http */
            scheme: string;
            /** @example 200 */
            status: number;
            /**
             * @description Unix time
             * @example 1769852000
             */
            timestamp: number;
            /**
             * @description `access`, or `notice` if `request_url` contains the number of omitted requests
             * @example access
             */
            type: string;
            /** @example 192.0.2.7 */
            user_ip: string;
        };
        ServerLog: {
            /** @description Always the same value: Stead does not count the entries */
            total_results: null;
            logs: components["schemas"]["ServerLogEntry"][];
            /**
             * @description Send this value to get the next, older page
             * @example nWq0c1xkZ3J5cGg
             */
            scroll_id: string;
        };
        PhpLogEntry: {
            /** @example Undefined variable $title */
            message: string;
            /**
             * @description Type of the error in PHP. `User` means that the site's code wrote the entry, `Database error` that a database statement failed
             * @example Warning
             */
            severity: string;
            /**
             * @description Origin of the code: `plugin`, `mu-plugin`, `theme`, `core` or empty
             * @example plugin
             */
            kind: string;
            /**
             * @description Name of the plugin or theme
             * @example example-plugin
             */
            name: string;
            /**
             * @description Path relative to the web root. Empty if unknown
             * @example wp-content/plugins/example-plugin/example-plugin.php
             */
            file: string;
            /**
             * @description Line number. -1 if unknown
             * @example 12
             */
            line: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            timestamp: string;
            /** @description Id of the site */
            atomic_site_id: number;
        };
        PhpLog: {
            /** @description Always the same value: Stead does not count the entries */
            total_results: null;
            logs: components["schemas"]["PhpLogEntry"][];
            /**
             * @description Send this value to get the next, older page
             * @example nWq0c1xkZ3J5cGg
             */
            scroll_id: string;
        };
        PhpLogCount: {
            /**
             * @description 1000 stands for that many or more
             * @example 12
             */
            count: number;
        };
        StatisticsPageViews: {
            today: components["schemas"]["Views"];
            yesterday: components["schemas"]["Views"];
            currentMonth: components["schemas"]["Views"];
            lastMonth: components["schemas"]["Views"];
            twoMonthsAgo: components["schemas"]["Views"];
            lastOneYear: components["schemas"]["Views"];
            lastTwoYears: components["schemas"]["Views"];
        };
        SiteStatistics: {
            /** @description Id of the site */
            id: number;
            /** @example 1458176 */
            databaseUsageBytes: number;
            /**
             * @description Size of the site's own files, without the shared files of WordPress
             * @example 52428800
             */
            fileSystemUsageBytes: number;
            pageViews: components["schemas"]["StatisticsPageViews"];
        };
        DayViews: {
            /**
             * @description In UTC
             * @example 2026-01-31
             */
            date: string;
            /**
             * @description Unique visits
             * @example 128
             */
            people: number;
            /**
             * @description Page views
             * @example 512
             */
            views: number;
        };
        ListSiteFiguresBody: {
            /**
             * @example [
             *       1,
             *       2
             *     ]
             */
            site_ids: number[];
        };
        SiteFigures: {
            /** @description The site */
            id: number;
            /**
             * @description Page views of each of the last 30 days, today last
             * @example [
             *       400,
             *       437,
             *       474,
             *       421,
             *       458,
             *       405,
             *       442,
             *       479,
             *       426,
             *       463,
             *       410,
             *       447,
             *       484,
             *       431,
             *       468,
             *       415,
             *       452,
             *       489,
             *       436,
             *       473,
             *       420,
             *       457,
             *       404,
             *       441,
             *       478,
             *       425,
             *       462,
             *       409,
             *       446,
             *       483
             *     ]
             */
            views: number[];
            /** @example 1458176 */
            databaseUsageBytes: number;
            /** @example 52428800 */
            fileSystemUsageBytes: number;
            /**
             * @description Time that the newest complete backup shows, or null if there is none
             * @example 2026-01-31T09:30:00.000Z
             */
            lastBackupAt: string | null;
            /**
             * @description Path of the newest screenshot of the homepage, or null if no performance report has one. It requires the same token. A newer screenshot has another path
             * @example /v1/sites/1/reports/performance/1/thumbnails/desktop
             */
            pictureLocation: string | null;
        };
        MonitoredSite: {
            /** @example 12 */
            id: number;
            /** @example shop-one */
            name: string;
            /** @example Shop One */
            display_name: string;
            /** @example shop.example.com */
            primary_domain: string | null;
            staging: boolean;
            /**
             * @description `paused`: the site is disabled, in maintenance, or closed by an operation. `unknown`: nobody has asked it in the last minutes, or its domain has never led here
             * @example up
             * @enum {string}
             */
            state: "up" | "slow" | "down" | "paused" | "unknown";
            /**
             * @description Since when it has this state
             * @example 2026-01-31T09:30:00.000Z
             */
            since: string | null;
            /**
             * @description Why it is slow or down. `dns`: its name does not lead here. `tls`: browsers refuse its certificate. `status`: status of the front page. `php`: PHP ended with an error. `time`: no answer in time
             * @example php
             * @enum {string|null}
             */
            reason: "dns" | "tls" | "status" | "php" | "time" | null;
            /**
             * @description The reason in words, or empty
             * @example
             */
            detail: string;
            /**
             * @description Share of the questions that the site answered, in percent with three decimals. Null without questions
             * @example 99.985
             */
            percent: number | null;
            /**
             * @description Uptime of each of the last 90 days in percent, today last. Null: no questions
             * @example [
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100,
             *       100
             *     ]
             */
            days: (number | null)[];
        };
        AskingEdges: {
            /**
             * @description How many edges ask the site
             * @example 2
             */
            asking: number;
            /**
             * @description How many of them find that it is down
             * @example 0
             */
            down: number;
        };
        DayUptime: {
            /**
             * @description In UTC
             * @example 2026-01-31
             */
            date: string;
            /**
             * @description Share of the questions that the site answered, in percent with three decimals. Null without questions
             * @example 99.985
             */
            percent: number | null;
            /**
             * @description How often edges asked the site
             * @example 1440
             */
            asked: number;
            /**
             * @description How often it was slow
             * @example 2
             */
            slow: number;
            /**
             * @description How often it was down
             * @example 0
             */
            failed: number;
        };
        SiteIncident: {
            /** @example 3 */
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            began_at: string;
            /**
             * @description Null while the site is down
             * @example 2026-01-31T09:30:00.000Z
             */
            ended_at: string | null;
            /**
             * @description See the state of the site
             * @example status
             * @enum {string}
             */
            reason: "dns" | "tls" | "status" | "php" | "time";
            /** @example The front page answers 502 */
            detail: string;
        };
        SiteUptime: {
            /**
             * @description `paused`: the site is disabled, in maintenance, or closed by an operation. `unknown`: nobody has asked it in the last minutes, or its domain has never led here
             * @example up
             * @enum {string}
             */
            state: "up" | "slow" | "down" | "paused" | "unknown";
            /**
             * @description Since when it has this state
             * @example 2026-01-31T09:30:00.000Z
             */
            since: string | null;
            /**
             * @description Why it is slow or down. `dns`: its name does not lead here. `tls`: browsers refuse its certificate. `status`: status of the front page. `php`: PHP ended with an error. `time`: no answer in time
             * @example php
             * @enum {string|null}
             */
            reason: "dns" | "tls" | "status" | "php" | "time" | null;
            /**
             * @description The reason in words, or empty
             * @example
             */
            detail: string;
            edges: components["schemas"]["AskingEdges"];
            /**
             * @description Share of the questions that the site answered, in percent with three decimals. Null without questions
             * @example 99.985
             */
            percent: number | null;
            /** @description Oldest first, today last */
            days: components["schemas"]["DayUptime"][];
            /** @description Newest first */
            incidents: components["schemas"]["SiteIncident"][];
        };
        Alert: {
            /** @example 31 */
            id: number;
            /**
             * @description What it is about
             * @example site_down
             */
            kind: string;
            /**
             * @example critical
             * @enum {string}
             */
            severity: "critical" | "warning";
            /**
             * @example firing
             * @enum {string}
             */
            state: "firing" | "resolved";
            /** @example Shop One is down */
            title: string;
            /** @example The front page answers 500 */
            detail: string;
            /**
             * @description Null: it is about the installation
             * @example 12
             */
            site_id: number | null;
            /** @example Shop One */
            site_name: string | null;
            /**
             * @description What it is about within the site and kind, such as a domain. Empty if there is only one
             * @example
             */
            subject: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            began_at: string;
            /**
             * @description Null while it is open
             * @example 2026-01-31T09:30:00.000Z
             */
            ended_at: string | null;
            /** @description Whether you have marked it as read */
            read: boolean;
            /** @description Whether one of your mutes covers it */
            muted: boolean;
        };
        AlertsRead: {
            /**
             * @description ID of the newest alert that you have seen
             * @example 31
             */
            up_to: number;
        };
        AlertKind: {
            /** @example site_down */
            kind: string;
            /** @example Site is down */
            title: string;
            /**
             * @example critical
             * @enum {string}
             */
            severity: "critical" | "warning";
        };
        AlertSettings: {
            /**
             * @description Kinds of alerts that you get by mail
             * @example [
             *       "site_down"
             *     ]
             */
            mail: ("site_down" | "domain_elsewhere" | "certificate_expiring" | "site_disk_filling" | "site_disk_full" | "backup_failed" | "backup_proof_failed" | "update_undone" | "vulnerability" | "php_errors" | "mail_bouncing" | "host_silent" | "host_disk_filling" | "host_disk_full" | "platform_certificate_expiring")[];
            /**
             * @description Kinds of alerts that the bell of the control panel shows
             * @example [
             *       "site_down"
             *     ]
             */
            bell: ("site_down" | "domain_elsewhere" | "certificate_expiring" | "site_disk_filling" | "site_disk_full" | "backup_failed" | "backup_proof_failed" | "update_undone" | "vulnerability" | "php_errors" | "mail_bouncing" | "host_silent" | "host_disk_filling" | "host_disk_full" | "platform_certificate_expiring")[];
            /**
             * @description Whether you get mails about sites of others that you collaborate on, too
             * @example false
             */
            mail_shared_sites: boolean;
            /** @description All kinds of alerts that can reach you */
            kinds: components["schemas"]["AlertKind"][];
        };
        AlertSettingsUpdate: {
            /**
             * @description Kinds of alerts that you get by mail
             * @example [
             *       "site_down"
             *     ]
             */
            mail?: ("site_down" | "domain_elsewhere" | "certificate_expiring" | "site_disk_filling" | "site_disk_full" | "backup_failed" | "backup_proof_failed" | "update_undone" | "vulnerability" | "php_errors" | "mail_bouncing" | "host_silent" | "host_disk_filling" | "host_disk_full" | "platform_certificate_expiring")[];
            /**
             * @description Kinds of alerts that the bell of the control panel shows
             * @example [
             *       "site_down"
             *     ]
             */
            bell?: ("site_down" | "domain_elsewhere" | "certificate_expiring" | "site_disk_filling" | "site_disk_full" | "backup_failed" | "backup_proof_failed" | "update_undone" | "vulnerability" | "php_errors" | "mail_bouncing" | "host_silent" | "host_disk_filling" | "host_disk_full" | "platform_certificate_expiring")[];
            /**
             * @description Whether you get mails about sites of others that you collaborate on, too
             * @example false
             */
            mail_shared_sites?: boolean;
        };
        AlertMute: {
            /** @example 4 */
            id: number;
            /**
             * @description Null: all sites, and the installation
             * @example 12
             */
            site_id: number | null;
            /**
             * @description Null: all sites, or a site that you cannot see
             * @example My shop
             */
            site_name: string | null;
            /**
             * @description Null: all kinds
             * @example site_down
             */
            kind: string | null;
            /**
             * @description Null: until you delete it
             * @example 2026-01-31T09:30:00.000Z
             */
            until: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
        };
        NewAlertMute: {
            site_id?: number | null;
            /**
             * @description Kind of alert
             * @example site_down
             * @enum {string|null}
             */
            kind?: "site_down" | "domain_elsewhere" | "certificate_expiring" | "site_disk_filling" | "site_disk_full" | "backup_failed" | "backup_proof_failed" | "update_undone" | "vulnerability" | "php_errors" | "mail_bouncing" | "host_silent" | "host_disk_filling" | "host_disk_full" | "platform_certificate_expiring" | null;
            /**
             * @description ISO 8601 time at which the mute ends. Without it: when you delete the mute
             * @example 2099-02-01T08:00:00.000Z
             */
            until?: string | null;
        };
        AlertChat: {
            /** @example 2 */
            id: number;
            /**
             * @description Host of the URL. Stead never shows the rest, which is secret
             * @example hooks.example.com
             */
            host: string;
            /** @example #operations */
            description: string;
            /**
             * @description Null for all kinds
             * @example null
             */
            kinds: string[] | null;
            /**
             * @description When a message last arrived
             * @example 2026-01-31T09:30:00.000Z
             */
            sent_at: string | null;
            /**
             * @description Since when no message has arrived. Null if messages arrive
             * @example null
             */
            failing_since: string | null;
            /**
             * @description Why the last message did not arrive
             * @example null
             */
            fault: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
        };
        NewAlertChat: {
            /**
             * @description URL of an incoming webhook of Slack, Mattermost, Discord, or a compatible chat program
             * @example https://hooks.example.com/services/T0000/B0000/secret
             */
            url: string;
            /** @example #operations */
            description?: string;
            /**
             * @description Kinds of alerts to send. Null for all kinds, including those of later versions
             * @example null
             */
            kinds?: ("site_down" | "domain_elsewhere" | "certificate_expiring" | "site_disk_filling" | "site_disk_full" | "backup_failed" | "backup_proof_failed" | "update_undone" | "vulnerability" | "php_errors" | "mail_bouncing" | "host_silent" | "host_disk_filling" | "host_disk_full" | "platform_certificate_expiring")[] | null;
        };
        DesktopReport: {
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description Path of the screenshot. It requires the same token
             * @example /v1/sites/1/reports/…
             */
            thumbnail_location: string | null;
            /**
             * @description Final URL after redirects
             * @example http://my-first-site.example.com/
             */
            final_url: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            performance_score: number | null;
            /**
             * @description Score of the category
             * @example Performance
             */
            performance_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            accessibility_score: number | null;
            /**
             * @description Score of the category
             * @example Performance
             */
            accessibility_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            best_practices_score: number | null;
            /**
             * @description Score of the category
             * @example Performance
             */
            best_practices_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            seo_score: number | null;
            /**
             * @description Score of the category
             * @example Performance
             */
            seo_title: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            first_contentful_paint_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            first_contentful_paint_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            first_contentful_paint_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            first_contentful_paint_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            first_contentful_paint_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            first_contentful_paint_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            interactive_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            interactive_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            interactive_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            interactive_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            interactive_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            interactive_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            speed_index_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            speed_index_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            speed_index_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            speed_index_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            speed_index_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            speed_index_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            total_blocking_time_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            total_blocking_time_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            total_blocking_time_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            total_blocking_time_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            total_blocking_time_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            total_blocking_time_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            largest_contentful_paint_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            largest_contentful_paint_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            largest_contentful_paint_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            largest_contentful_paint_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            largest_contentful_paint_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            largest_contentful_paint_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            cumulative_layout_shift_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            cumulative_layout_shift_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            cumulative_layout_shift_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            cumulative_layout_shift_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            cumulative_layout_shift_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            cumulative_layout_shift_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            server_response_time_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            server_response_time_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            server_response_time_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            server_response_time_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            server_response_time_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            server_response_time_numeric_unit: string | null;
            /**
             * @description Version of Lighthouse
             * @example 13.5.0
             */
            lighthouse_version: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            fetch_time: string | null;
        };
        MobileReport: {
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description Path of the screenshot. It requires the same token
             * @example /v1/sites/1/reports/…
             */
            thumbnail_location: string | null;
            /**
             * @description Final URL after redirects
             * @example http://my-first-site.example.com/
             */
            final_url: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            performance_score: number | null;
            /**
             * @description Score of the category
             * @example Performance
             */
            performance_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            accessibility_score: number | null;
            /**
             * @description Score of the category
             * @example Performance
             */
            accessibility_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            best_practices_score: number | null;
            /**
             * @description Score of the category
             * @example Performance
             */
            best_practices_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            seo_score: number | null;
            /**
             * @description Score of the category
             * @example Performance
             */
            seo_title: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            first_contentful_paint_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            first_contentful_paint_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            first_contentful_paint_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            first_contentful_paint_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            first_contentful_paint_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            first_contentful_paint_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            interactive_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            interactive_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            interactive_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            interactive_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            interactive_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            interactive_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            speed_index_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            speed_index_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            speed_index_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            speed_index_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            speed_index_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            speed_index_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            total_blocking_time_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            total_blocking_time_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            total_blocking_time_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            total_blocking_time_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            total_blocking_time_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            total_blocking_time_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            largest_contentful_paint_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            largest_contentful_paint_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            largest_contentful_paint_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            largest_contentful_paint_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            largest_contentful_paint_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            largest_contentful_paint_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            cumulative_layout_shift_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            cumulative_layout_shift_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            cumulative_layout_shift_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            cumulative_layout_shift_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            cumulative_layout_shift_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            cumulative_layout_shift_numeric_unit: string | null;
            /**
             * @description Score of the audit
             * @example Speed Index
             */
            server_response_time_title: string | null;
            /**
             * @description Description of the audit
             * @example How quickly the page is shown.
             */
            server_response_time_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            server_response_time_score: number | null;
            /**
             * @description Value in readable form
             * @example 1.2 s
             */
            server_response_time_display_value: string | null;
            /**
             * @description Measured value
             * @example 1234.5
             */
            server_response_time_numeric_value: string | null;
            /**
             * @description Unit of the value
             * @example millisecond
             */
            server_response_time_numeric_unit: string | null;
            /**
             * @description Version of Lighthouse
             * @example 13.5.0
             */
            lighthouse_version: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            fetch_time: string | null;
        };
        PerformanceReport: {
            desktop_report: components["schemas"]["DesktopReport"];
            mobile_report: components["schemas"]["MobileReport"];
        };
        PerformanceOpportunity: {
            /** @example Render blocking requests */
            title: string;
            /**
             * @description What to do, with links in Markdown
             * @example Requests are blocking the initial render of the page.
             */
            description: string | null;
            /**
             * @description Estimated savings
             * @example Est savings of 150 ms
             */
            display_value: string | null;
        };
        PastPerformance: {
            /**
             * @description 0 to 1
             * @example 0.98
             */
            performance_score: number | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            accessibility_score: number | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            best_practices_score: number | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            seo_score: number | null;
            /** @description Improvements, those with the largest effect first */
            opportunities: components["schemas"]["PerformanceOpportunity"][];
        };
        PastPerformanceReport: {
            id: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            desktop: components["schemas"]["PastPerformance"];
            mobile: components["schemas"]["PastPerformance"];
        };
        ClientReportMonth: {
            /** @example 2026-10 */
            month: string;
            /**
             * @description `so_far`: the month has not ended
             * @example complete
             * @enum {string}
             */
            state: "so_far" | "complete";
        };
        ClientReportIncident: {
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            began_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            ended_at: string | null;
            /**
             * @example status
             * @enum {string}
             */
            reason: "dns" | "tls" | "status" | "php" | "time";
            /** @example The front page answers 502 */
            detail: string;
        };
        ClientReportUptime: {
            /**
             * @description Share of the questions that the site answered
             * @example 99.98
             */
            percent: number;
            /** @description Percent of each day. Null without questions */
            days: (number | null)[];
            /**
             * @description How often it was down
             * @example 1
             */
            incidents: number;
            /**
             * @description How long it was down in total
             * @example 7
             */
            down_minutes: number;
            /** @description Oldest first */
            list: components["schemas"]["ClientReportIncident"][];
        };
        ClientReportChange: {
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            at: string;
            /** @example Updated Akismet from 5.3 to 5.4 */
            text: string;
            /**
             * @description `undone`: Stead found a fault after the update, and went back. `failed`: the site was left unchanged
             * @example done
             * @enum {string}
             */
            outcome: "done" | "undone" | "failed";
        };
        ClientReportUpdates: {
            /**
             * @description Updates that the site has
             * @example 4
             */
            done: number;
            /**
             * @description Updates that were undone
             * @example 0
             */
            undone: number;
            /**
             * @description Updates that failed
             * @example 0
             */
            failed: number;
            /**
             * @description The first day that was counted
             * @example 2026-10-01
             */
            counted_since: string;
            /** @description Oldest first */
            list: components["schemas"]["ClientReportChange"][];
        };
        ClientReportBackups: {
            /**
             * @description Backups of files
             * @example 31
             */
            files: number;
            /**
             * @description Backups of the database
             * @example 744
             */
            databases: number;
            /**
             * @description Test restores that succeeded
             * @example 4
             */
            proven: number;
            /**
             * @description Test restores that failed
             * @example 0
             */
            not_proven: number;
            /**
             * @description The first day that was counted
             * @example 2026-10-01
             */
            counted_since: string;
        };
        ClientReportVisits: {
            /**
             * @description Unique visitors of each day
             * @example 1280
             */
            visits: number;
            /**
             * @description Page views
             * @example 5120
             */
            views: number;
            /**
             * @description Visits in the month before. Null: none were counted
             * @example 1100
             */
            visits_before: number | null;
            /**
             * @description Page views in the month before
             * @example 4800
             */
            views_before: number | null;
            /** @description Page views of each day */
            days: number[];
        };
        ClientReportScores: {
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            at: string;
            /**
             * @description Lighthouse score, 0 to 100
             * @example 98
             */
            desktop: number | null;
            /** @example 91 */
            mobile: number | null;
        };
        ClientReportPerformance: {
            now: components["schemas"]["ClientReportScores"];
            /** @description The measurement before, if there is one */
            before: components["schemas"]["ClientReportScores"] | null;
        };
        ClientReportDomains: {
            /**
             * @description Domains of the site
             * @example 2
             */
            domains: number;
            /**
             * @description Names with a certificate
             * @example 2
             */
            certificates: number;
            /**
             * @description Names that want a certificate and have none
             * @example 0
             */
            missing: number;
            /**
             * @description When the first certificate expires. Stead renews it before
             * @example 2026-01-31T09:30:00.000Z
             */
            valid_until: string | null;
        };
        ClientReport: {
            /** @example 2026-10 */
            month: string;
            /**
             * @description `so_far`: the month has not ended
             * @example complete
             * @enum {string}
             */
            state: "so_far" | "complete";
            /**
             * @description Day on which the data was read
             * @example 2026-11-01
             */
            as_of: string;
            /** @example My first site */
            site_name: string;
            /** @example www.example.com */
            address: string;
            /** @description Null: no edge asked the site */
            uptime: components["schemas"]["ClientReportUptime"] | null;
            /** @description Null: updates were not counted yet */
            updates: components["schemas"]["ClientReportUpdates"] | null;
            /** @description Null: backups were not counted yet */
            backups: components["schemas"]["ClientReportBackups"] | null;
            /** @description Null: no visits were counted */
            visits: components["schemas"]["ClientReportVisits"] | null;
            /** @description Null: nothing was measured */
            performance: components["schemas"]["ClientReportPerformance"] | null;
            domains: components["schemas"]["ClientReportDomains"];
        };
        ClientReportMail: {
            /** @example 2026-10 */
            month: string;
            /** @example client@example.com */
            recipient: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            requested_at: string;
            /**
             * @description Null: not sent yet, or not at all
             * @example 2026-01-31T09:30:00.000Z
             */
            sent_at: string | null;
            /**
             * @description Why it was not sent
             * @example null
             */
            fault: string | null;
        };
        ClientReportSettings: {
            /**
             * @description Mail addresses. Each gets the report of the last month when it has ended
             * @example [
             *       "client@example.com"
             *     ]
             */
            recipients: string[];
            /** @description The newest 50 mails, those of the last month first */
            mails: components["schemas"]["ClientReportMail"][];
        };
        ClientReportSettingsUpdate: {
            /**
             * @description Mail addresses. Each gets the report of the last month when it has ended
             * @example [
             *       "client@example.com"
             *     ]
             */
            recipients: string[];
        };
        Webhook: {
            id: number;
            /** @example https://hooks.example.com/stead */
            url: string;
            /** @example Deploy bot */
            description: string;
            /**
             * @description Event types to send. Null for all types, including those of later versions
             * @example [
             *       "site_created"
             *     ]
             */
            event_types: string[] | null;
            /**
             * @description Sites of your account. Null for all sites and for events of the account itself
             * @example null
             */
            site_ids: number[] | null;
            /** @example true */
            enabled: boolean;
            /**
             * @description Why Stead disabled the webhook. Null if it did not
             * @example null
             */
            disabled_reason: string | null;
            /**
             * @description Since when no event has arrived. Null if deliveries succeed
             * @example null
             */
            failing_since: string | null;
            /**
             * @description Until then, Stead also signs with the previous secret
             * @example null
             */
            old_secret_until: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            updated_at: string;
        };
        CreateWebhookBody: {
            /**
             * @description Public http or https URL that accepts POST
             * @example https://hooks.example.com/stead
             */
            url: string;
            /** @example Deploy bot */
            description?: string;
            /**
             * @description Event types to send. Null for all types, including those of later versions
             * @example [
             *       "site_created",
             *       "site_deleted"
             *     ]
             */
            event_types?: string[] | null;
            /**
             * @description Sites of your account. Null for all sites and for events of the account itself
             * @example null
             */
            site_ids?: number[] | null;
            /** @example true */
            enabled?: boolean;
        };
        NewWebhook: {
            id: number;
            /** @example https://hooks.example.com/stead */
            url: string;
            /** @example Deploy bot */
            description: string;
            /**
             * @description Event types to send. Null for all types, including those of later versions
             * @example [
             *       "site_created"
             *     ]
             */
            event_types: string[] | null;
            /**
             * @description Sites of your account. Null for all sites and for events of the account itself
             * @example null
             */
            site_ids: number[] | null;
            /** @example true */
            enabled: boolean;
            /**
             * @description Why Stead disabled the webhook. Null if it did not
             * @example null
             */
            disabled_reason: string | null;
            /**
             * @description Since when no event has arrived. Null if deliveries succeed
             * @example null
             */
            failing_since: string | null;
            /**
             * @description Until then, Stead also signs with the previous secret
             * @example null
             */
            old_secret_until: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description Secret to verify signatures. Stead shows it only once
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string;
        };
        UpdateWebhookBody: {
            /**
             * @description Public http or https URL that accepts POST
             * @example https://hooks.example.com/stead
             */
            url?: string;
            /** @example Deploy bot */
            description?: string;
            /**
             * @description Event types to send. Null for all types, including those of later versions
             * @example [
             *       "site_created",
             *       "site_deleted"
             *     ]
             */
            event_types?: string[] | null;
            /**
             * @description Sites of your account. Null for all sites and for events of the account itself
             * @example null
             */
            site_ids?: number[] | null;
            /** @example true */
            enabled?: boolean;
            /**
             * @description Create a new secret. Stead also signs with the old secret for 24 hours
             * @example false
             */
            rotate_secret?: boolean;
        };
        ChangedWebhook: {
            id: number;
            /** @example https://hooks.example.com/stead */
            url: string;
            /** @example Deploy bot */
            description: string;
            /**
             * @description Event types to send. Null for all types, including those of later versions
             * @example [
             *       "site_created"
             *     ]
             */
            event_types: string[] | null;
            /**
             * @description Sites of your account. Null for all sites and for events of the account itself
             * @example null
             */
            site_ids: number[] | null;
            /** @example true */
            enabled: boolean;
            /**
             * @description Why Stead disabled the webhook. Null if it did not
             * @example null
             */
            disabled_reason: string | null;
            /**
             * @description Since when no event has arrived. Null if deliveries succeed
             * @example null
             */
            failing_since: string | null;
            /**
             * @description Until then, Stead also signs with the previous secret
             * @example null
             */
            old_secret_until: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description New secret, if you requested one
             * @example null
             */
            secret: string | null;
        };
        WebhookAttempt: {
            /** @example 1 */
            number: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            started_at: string;
            /** @example 84 */
            duration_ms: number;
            /**
             * @description HTTP status. Null without a response
             * @example 204
             */
            status: number | null;
            /**
             * @description Start of the response
             * @example
             */
            answer: string;
            /**
             * @description Why the attempt failed
             * @example null
             */
            error: string | null;
        };
        WebhookDelivery: {
            id: number;
            /**
             * @description Value of `webhook-id`, and id of the event in `GET /v1/events`. Each attempt has the same id
             * @example evt_42_4f1d6a0f9be27c35
             */
            event_id: string;
            /** @example site_created */
            type: string;
            site_id: number | null;
            /**
             * @description `waiting` means that an earlier event of the same site has not arrived yet
             * @enum {string}
             */
            state: "pending" | "waiting" | "delivered" | "failed";
            /**
             * @description ISO 8601, UTC
             * @example null
             */
            next_attempt_at: string | null;
            attempts: components["schemas"]["WebhookAttempt"][];
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601, UTC
             * @example null
             */
            finished_at: string | null;
        };
        Event: {
            /** @example evt_42_4f1d6a0f9be27c35 */
            id: string;
            /** @example site_created */
            type: string;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            timestamp: string;
            account_id: number;
            site_id: number | null;
            /** @description See docs/webhooks.md */
            data: unknown;
        };
        SitesInState: {
            /** @example live */
            state: string;
            /** @example 3 */
            count: number;
        };
        /** @description Operation that moves the sites of a `draining` host. Null for other hosts */
        HostDrain: {
            /**
             * @description Id of the operation
             * @example 7
             */
            operation: number;
            /**
             * @description Whether it is paused, so that no move begins
             * @example false
             */
            paused: boolean;
        };
        HostHealth: {
            id: number;
            /** @example host-1 */
            name: string;
            /** @description Number of sites on the host, without those in the trash */
            sites: number;
            /**
             * @description Maximum number of sites on the host
             * @example 100
             */
            max_sites: number;
            /** @description Number of deleted sites in the trash of the host */
            deleted_sites: number;
            /**
             * @description When the trash of the host is empty. Null if it is empty now
             * @example 2026-01-31T09:30:00.000Z
             */
            deleted_until: string | null;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            seen_at: string | null;
            /** @description Whether the host reported in the last minute */
            answers: boolean;
            /**
             * @description `active` hosts get new sites. `cordoned` hosts keep their sites but get no new ones. The sites of `draining` hosts move to other hosts. `drained` hosts are cordoned and empty. The sites of `lost` hosts are recovered on other hosts.
             * @example active
             * @enum {string}
             */
            state: "active" | "cordoned" | "draining" | "drained" | "lost";
            drain: components["schemas"]["HostDrain"] | null;
        };
        OperationsInState: {
            /** @example queued */
            state: string;
            /** @example 3 */
            count: number;
        };
        QueueHealth: {
            /**
             * @description Which process runs the operations: hosts or control
             * @example host
             */
            runner: string;
            /** @description Number of operations that are due but not started */
            due: number;
            /** @example 0 */
            oldest_seconds: number;
        };
        WebhooksHealth: {
            /** @description Number of events that are due */
            due: number;
            /** @example 0 */
            oldest_seconds: number;
            failing: number;
            disabled: number;
        };
        CertificatesHealth: {
            /** @description Names whose last attempt failed */
            failing: number;
            /** @description Expired certificates without a replacement */
            ended: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            first_end: string | null;
        };
        TakenName: {
            /** @example panel.example.com */
            name: string;
            /**
             * @description `site`, `domain` or `zone`
             * @example domain
             */
            kind: string;
            /**
             * @description Name of the site that uses it
             * @example my-first-site
             */
            site: string | null;
            /** @example customer@example.com */
            account: string;
        };
        InstallationNames: {
            /**
             * @description Registrable domain that the panel shares with customers' sites. Null if none
             * @example null
             */
            shared_domain: string | null;
            /** @description Up to 100 names of the installation that accounts used before a setting reserved them */
            taken: components["schemas"]["TakenName"][];
        };
        BudgetHealth: {
            /** @example request_bodies */
            name: string;
            /** @description Current value in bytes or items */
            used: number;
            /** @example 67108864 */
            limit: number;
            /** @description Since the process started */
            refusals: number;
        };
        ProcessHealth: {
            /** @example control-3f09c1a2b4d6 */
            process: string;
            /** @example control */
            part: string;
            /** @example 120000000 */
            resident_bytes: number;
            /** @example 50000000000 */
            disk_free_bytes: number;
            budgets: components["schemas"]["BudgetHealth"][];
        };
        /** @description Most important metrics of `/metrics`, at most ten seconds old */
        InstallationHealth: {
            /** @example 0.1.0 */
            version: string | null;
            sites: components["schemas"]["SitesInState"][];
            hosts: components["schemas"]["HostHealth"][];
            /** @description Queued and running operations, and those that ended in the last hour */
            operations: components["schemas"]["OperationsInState"][];
            queues: components["schemas"]["QueueHealth"][];
            webhooks: components["schemas"]["WebhooksHealth"];
            certificates: components["schemas"]["CertificatesHealth"];
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            records_backed_up: string | null;
            names: components["schemas"]["InstallationNames"];
            processes: components["schemas"]["ProcessHealth"][];
        };
        Installation: {
            /** @description Whether your account operates the installation */
            operator: boolean;
            health: components["schemas"]["InstallationHealth"] | null;
            /** @description Whether backups are kept outside the data folder, in an S3 bucket or in `STEAD_BACKUP_DIR`. Null for other accounts */
            backups_elsewhere: boolean | null;
        };
        InstallationCheck: {
            /**
             * @description Name of the check
             * @enum {string}
             */
            area: "settings" | "disk" | "databases" | "clock" | "ports" | "names" | "dns" | "certificates" | "storage" | "mail" | "php" | "limits";
            /**
             * @description `problem`: something does not work. `warning`: it works, but you should change it. `skipped`: Stead could not check it now
             * @enum {string}
             */
            state: "ok" | "warning" | "problem" | "skipped";
            /**
             * @description Result of the check
             * @example 203.0.113.7:443 is in use by another program.
             */
            text: string;
            /**
             * @description What to do. Null if nothing is wrong
             * @example Choose another with STEAD_EDGE_LISTEN.
             */
            remedy: string | null;
        };
        InstallationChecks: {
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            checked_at: string | null;
            checks: components["schemas"]["InstallationCheck"][] | null;
        };
        AccountRemoval: {
            /**
             * @description `waiting`: you can cancel it. `failed`: retry its operation
             * @example waiting
             * @enum {string}
             */
            state: "waiting" | "removing" | "failed";
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            requested_at: string;
            /**
             * @description When the deletion begins. Until then you can cancel the removal
             * @example 2026-08-08T09:30:00.000Z
             */
            due_at: string;
            /**
             * @description Operation that removes the account
             * @example 1234
             */
            operation_id: number;
        };
        AccountOfInstallation: {
            /** @example 1 */
            id: number;
            /** @example customer@example.com */
            email: string;
            /** @example Jo Doe */
            name: string;
            /** @example Business */
            plan: string;
            /** @description Whether the account operates the installation */
            operator: boolean;
            /**
             * @description Number of its sites, without those in the trash
             * @example 3
             */
            sites: number;
            /**
             * @description Number of live and staging sites that its plan allows
             * @example 7
             */
            max_sites: number;
            /**
             * @description ISO 8601 time in UTC with milliseconds
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description When the operator suspended it. Null if it is not suspended
             * @example null
             */
            suspended_at: string | null;
            removal: components["schemas"]["AccountRemoval"] | null;
        };
        SiteToRemove: {
            /** @example 1 */
            id: number;
            /** @example shop */
            name: string;
            /** @example 83886080 */
            bytes: number;
            staging: boolean;
            in_trash: boolean;
        };
        SitesToRemove: {
            /** @example 1 */
            total: number;
            /** @example 83886080 */
            bytes: number;
            list: components["schemas"]["SiteToRemove"][];
        };
        BackupsToRemove: {
            /** @example 1 */
            total: number;
            /** @example 83886080 */
            bytes: number;
        };
        DomainsToRemove: {
            /** @example 1 */
            total: number;
            list: string[];
        };
        ZoneToRemove: {
            /** @example example.com */
            name: string;
            /** @description Remove its DS record at the registrar first */
            signed: boolean;
        };
        ZonesToRemove: {
            /** @example 1 */
            total: number;
            list: components["schemas"]["ZoneToRemove"][];
        };
        PersonOfRemovedAccount: {
            /** @example colleague@example.com */
            email: string;
            /** @example A Colleague */
            name: string;
            /** @description Whether their account is deleted too, because it was invited and has access to nothing else */
            deleted: boolean;
        };
        PeopleOfRemovedAccount: {
            /** @example 1 */
            total: number;
            list: components["schemas"]["PersonOfRemovedAccount"][];
        };
        SharedSite: {
            /** @example other-shop */
            site: string;
            /** @example owner@example.com */
            owner: string;
        };
        SharedSitesToLeave: {
            /** @example 1 */
            total: number;
            list: components["schemas"]["SharedSite"][];
        };
        KeptOfRemovedAccount: {
            /**
             * @example activity
             * @enum {string}
             */
            kind: "activity" | "wordpress_users" | "logs" | "records_backups";
            /** @example 12 activity entries move to the log of the operator. */
            text: string;
        };
        RemovalBlocker: {
            /** @example account_zone_shared */
            code: string;
            /** @example Sites of other accounts use the domain example.com of the account. */
            message: string;
        };
        AccountRemovalReport: {
            account: components["schemas"]["AccountOfInstallation"];
            sites: components["schemas"]["SitesToRemove"];
            backups: components["schemas"]["BackupsToRemove"];
            domains: components["schemas"]["DomainsToRemove"];
            zones: components["schemas"]["ZonesToRemove"];
            people: components["schemas"]["PeopleOfRemovedAccount"];
            shared_sites: components["schemas"]["SharedSitesToLeave"];
            /** @example 1 */
            certificates: number;
            /** @example 1 */
            credentials: number;
            /** @example 1 */
            passkeys: number;
            /** @example 1 */
            sessions: number;
            /** @example 1 */
            webhooks: number;
            /** @example 1 */
            sftp_users: number;
            /** @example 1 */
            mu_plugins: number;
            /**
             * @description Unfinished operations, which are canceled
             * @example 0
             */
            operations: number;
            /** @description What is kept on purpose */
            stays: components["schemas"]["KeptOfRemovedAccount"][];
            /** @description What prevents the removal */
            blockers: components["schemas"]["RemovalBlocker"][];
        };
        NewAccountRemoval: {
            /**
             * @description Address of the account, as a confirmation
             * @example customer@example.com
             */
            email: string;
            /**
             * @description Days until the deletion begins. 0 begins now. Default: 7
             * @example 7
             */
            keep_days?: number;
        };
        HostState: {
            /** @example host-1 */
            name: string;
            /**
             * @description The decision of the operator
             * @enum {string}
             */
            state: "active" | "cordoned" | "lost" | "removed";
        };
        Drain: {
            /**
             * @description Name of the only host that gets the sites. Default: all that take sites
             * @example host-2
             */
            to?: string;
            /** @description Sites that move at the same time. Default: 2 */
            at_once?: number;
            /**
             * @description Times of a day in UTC between which moves begin. The second may be on the next day. Default: the whole day
             * @example 01:00-05:00
             */
            window?: string;
            /**
             * @description Time in ISO 8601, UTC, after which no move begins. Sites that are left then stay
             * @example 2100-01-01T05:00:00Z
             */
            deadline?: string;
        };
        Replacement: {
            /**
             * @description Name of the host that gets the sites
             * @example host-2
             */
            to: string;
            /** @description Sites that move at the same time. Default: 2 */
            at_once?: number;
            /**
             * @description Times of a day in UTC between which moves begin. The second may be on the next day. Default: the whole day
             * @example 01:00-05:00
             */
            window?: string;
            /**
             * @description Time in ISO 8601, UTC, after which no move begins. Sites that are left then stay
             * @example 2100-01-01T05:00:00Z
             */
            deadline?: string;
        };
        NewRebalance: {
            /**
             * @description Whether to only list the moves. Default: false
             * @example false
             */
            dry_run?: boolean;
            /**
             * @description Moves at most. Default: 20
             * @example 20
             */
            most?: number;
            /** @description Sites that move at the same time. Default: 2 */
            at_once?: number;
        };
        PlannedMove: {
            site_id: number;
            /** @example my-shop */
            site: string;
            /**
             * @description Name of its host
             * @example host-1
             */
            from: string;
            /**
             * @description Name of the new host
             * @example host-2
             */
            to: string;
            /**
             * @description Size of files and database
             * @example 104857600
             */
            disk_bytes: number;
            /**
             * @description Page views of the last week
             * @example 420
             */
            visits: number;
            /** @example host-1 has 180 % of its fair share, and host-2 has 20 %. */
            reason: string;
        };
        HostLoad: {
            /** @example host-1 */
            name: string;
            /**
             * @description Share of the disk use of all sites and of their page views of the last week, compared with the places of the host. 100 is a fair share
             * @example 180
             */
            load: number;
            /**
             * @description Share of the disk use of all sites and of their page views of the last week, compared with the places of the host. 100 is a fair share
             * @example 180
             */
            load_after: number;
        };
        Rebalance: {
            moves: components["schemas"]["PlannedMove"][];
            /** @description Hosts that take sites, before and after the moves */
            hosts: components["schemas"]["HostLoad"][];
        };
        HostLoss: {
            /**
             * @description The name of the host once more
             * @example host-1
             */
            confirm: string;
        };
        SiteHost: {
            /** @example host-2 */
            name: string;
            /**
             * @description As in `GET /v1/installation`
             * @example active
             * @enum {string}
             */
            state: "active" | "cordoned" | "draining" | "drained" | "lost";
            /**
             * @description Number of sites on the host, without those in the trash
             * @example 12
             */
            sites: number;
            /**
             * @description Maximum number of sites on the host
             * @example 100
             */
            max_sites: number;
            /** @description PHP versions of the host that work with the kind of the site's database */
            php_versions: string[];
            /** @description Whether the site is on this host */
            current: boolean;
            /**
             * @description Why the host cannot take the site. Null if it can
             * @example The host has no room.
             */
            reason: string | null;
        };
        Relocation: {
            /**
             * @description Name of the new host. Default: the host of the datacenter with the most room
             * @example host-2
             */
            host?: string;
        };
        Relocating: {
            /** @example host-2 */
            host: string;
        };
        IssueTokenBody: {
            /**
             * @description Must be client_credentials
             * @example client_credentials
             */
            grant_type?: string;
            /** @example your-client-id */
            client_id?: string;
            /** @example your-client-secret */
            client_secret?: string;
            /** @description Accepted and ignored: a token has the scopes of its application */
            scope?: string;
        };
        Token: {
            /** @example mF_9.B5f-4.1JqM */
            access_token: string;
            /** @example Bearer */
            token_type: string;
            /**
             * @description Seconds
             * @example 3600
             */
            expires_in: number;
            /**
             * @description Scopes, separated by spaces
             * @example authorized owner
             */
            scope: string;
            /**
             * @description Unix time
             * @example 1769852000
             */
            created_at: number;
            /** @description Account id */
            id: number;
            /** @example Example Company */
            name: string;
            /** @example owner@example.com */
            email: string;
            /**
             * @description URL of the avatar
             * @example https://www.gravatar.com/avatar/c8cd3c6427301eaf6665bccacd65ddb614527acc843a15463e3faba57124c351?d=mp
             */
            gravatar: string;
            /**
             * @example [
             *       "authorized",
             *       "owner"
             *     ]
             */
            scopes: string[];
        };
        TokenError: {
            /**
             * @description invalid_request, invalid_client or unsupported_grant_type
             * @example invalid_client
             */
            error: string;
            /** @example The client is unknown, or the client secret is wrong. */
            error_description: string;
        };
        RevokeTokenBody: {
            /** @example mF_9.B5f-4.1JqM */
            token?: string;
            /** @description Accepted and ignored: there is one type of token */
            token_type_hint?: string;
            /** @example your-client-id */
            client_id?: string;
            /** @example your-client-secret */
            client_secret?: string;
        };
    };
    responses: never;
    parameters: {
        /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
        IdempotencyKey: string;
        /** @description ETag of the client's copy. The response is 304 if the copy is current. */
        IfNoneMatch: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getAuthorizationServer: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorizationServer"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["CurrentSession"];
                        errors: null;
                    };
                };
            };
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "owner@example.com",
                 *       "password": "correct horse battery",
                 *       "code": "123456"
                 *     }
                 */
                "application/json": components["schemas"]["SignInBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SignedIn"];
                        errors: null;
                    };
                };
            };
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    beginPasskeySignIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["PasskeyRequestOptions"];
                        errors: null;
                    };
                };
            };
        };
    };
    signInByPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "credential": {
                 *         "id": "c3RlYWQ",
                 *         "response": {
                 *           "clientDataJSON": "c3RlYWQ",
                 *           "authenticatorData": "c3RlYWQ",
                 *           "signature": "c3RlYWQ"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["SignInByPasskeyBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SignedIn"];
                        errors: null;
                    };
                };
            };
        };
    };
    proveIdentity: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": components["schemas"]["ProveIdentityBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Proof"];
                        errors: null;
                    };
                };
            };
        };
    };
    proveByPasskey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "credential": {
                 *         "id": "c3RlYWQ",
                 *         "response": {
                 *           "clientDataJSON": "c3RlYWQ",
                 *           "authenticatorData": "c3RlYWQ",
                 *           "signature": "c3RlYWQ"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ProveByPasskeyBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Proof"];
                        errors: null;
                    };
                };
            };
        };
    };
    requestPasswordLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "owner@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["RequestPasswordLinkBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    usePasswordLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "mF_9.B5f-4.1JqM",
                 *       "password": "correct horse battery",
                 *       "code": "123456"
                 *     }
                 */
                "application/json": components["schemas"]["UsePasswordLinkBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SignedIn"];
                        errors: null;
                    };
                };
            };
        };
    };
    beginPasskeyByLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "mF_9.B5f-4.1JqM"
                 *     }
                 */
                "application/json": components["schemas"]["BeginPasskeyByLinkBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["PasskeyCreationOptions"];
                        errors: null;
                    };
                };
            };
        };
    };
    createPasskeyByLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "mF_9.B5f-4.1JqM",
                 *       "name": "Laptop",
                 *       "credential": {
                 *         "id": "c3RlYWQ",
                 *         "response": {
                 *           "clientDataJSON": "c3RlYWQ",
                 *           "attestationObject": "c3RlYWQ",
                 *           "transports": [
                 *             "internal"
                 *           ]
                 *         }
                 *       },
                 *       "code": "123456"
                 *     }
                 */
                "application/json": components["schemas"]["CreatePasskeyByLinkBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SignedIn"];
                        errors: null;
                    };
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "current_password": "correct horse battery",
                 *       "password": "staple under the lamp"
                 *     }
                 */
                "application/json": components["schemas"]["ChangePasswordBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    confirmTotp: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "123456"
                 *     }
                 */
                "application/json": components["schemas"]["ConfirmTotpBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["RecoveryCodes"];
                        errors: null;
                    };
                };
            };
        };
    };
    beginTotp: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["TotpSecret"];
                        errors: null;
                    };
                };
            };
        };
    };
    disableTotp: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listPasskeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Passkey"][];
                        errors: null;
                    };
                };
            };
        };
    };
    createPasskey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Laptop",
                 *       "credential": {
                 *         "id": "c3RlYWQ",
                 *         "response": {
                 *           "clientDataJSON": "c3RlYWQ",
                 *           "attestationObject": "c3RlYWQ",
                 *           "transports": [
                 *             "internal"
                 *           ]
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreatePasskeyBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Passkey"];
                        errors: null;
                    };
                };
            };
        };
    };
    beginPasskey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["PasskeyCreationOptions"];
                        errors: null;
                    };
                };
            };
        };
    };
    deletePasskey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Session"][];
                        errors: null;
                    };
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listApplications: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Application"][];
                        errors: null;
                    };
                };
            };
        };
    };
    createApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Deploy bot"
                 *     }
                 */
                "application/json": components["schemas"]["CreateApplicationBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["NewApplication"];
                        errors: null;
                    };
                };
            };
        };
    };
    revokeApplication: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Account"];
                        errors: null;
                    };
                };
            };
        };
    };
    updateAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "php_version": "8.3",
                 *       "datacenter_code": "AMS"
                 *     }
                 */
                "application/json": components["schemas"]["AccountUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listAddons: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Addon"][];
                        errors: null;
                    };
                };
            };
        };
    };
    updateAddons: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "addon_id": 1,
                 *       "quantity": 1
                 *     }
                 */
                "application/json": components["schemas"]["UpdateAddonsBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AttachedAddon"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listAttachedAddons: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AttachedAddon"][];
                        errors: null;
                    };
                };
            };
        };
    };
    getBranding: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Branding"];
                        errors: null;
                    };
                };
            };
        };
    };
    updateBranding: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "Northlight Studio",
                 *       "color": "#0f766e",
                 *       "reply_to": "hello@northlight.example",
                 *       "logo": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPgL8sDAAGLAPQ8xSAqAAAAAElFTkSuQmCC"
                 *     }
                 */
                "application/json": components["schemas"]["BrandingUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Branding"];
                        errors: null;
                    };
                };
            };
        };
    };
    getBrandingLogo: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                    "image/jpeg": string;
                    "image/webp": string;
                };
            };
        };
    };
    getBrandLogo: {
        parameters: {
            query?: {
                /**
                 * @description As in the session. Another value returns the same logo
                 * @example 1
                 */
                version?: number;
            };
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                    "image/jpeg": string;
                    "image/webp": string;
                };
            };
        };
    };
    listAccountActivity: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "filters": [
                 *         {
                 *           "field": "action",
                 *           "operator": "equals",
                 *           "value": "site.created"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ActivityQuery"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ActivityEntry"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    listRecentActivity: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ActivityEntry"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listAccountActions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Action"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listSiteActivity: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "filters": [
                 *         {
                 *           "field": "action",
                 *           "operator": "equals",
                 *           "value": "site.created"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ActivityQuery"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ActivityEntry"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    listSiteActions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Action"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listSites: {
        parameters: {
            query?: {
                tag_name?: string;
                /** @description Leave out environments of live sites that you can see */
                environments?: "grouped";
                /** @description Return the page number `page` instead of the full list */
                paginate?: boolean;
                /** @description Adds `status` to each site, as `GET /v1/sites/{id}/status` returns it */
                include?: "status";
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
                /** @description Use it instead of `page` to keep the order of the list: empty to begin, then the value of the header `Next-Place`, which is missing on the last answer. Sites that are added or deleted meanwhile cause no gaps */
                place?: string;
                /**
                 * @description Sort by name, ID (`created`), PHP version, or storage use as of last night (`disk`); a `-` reverses the order. Without it, favorites come first, then names
                 * @example -disk
                 */
                sort?: "name" | "-name" | "created" | "-created" | "php_version" | "-php_version" | "disk" | "-disk";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ListedSite"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    createSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "my-first-site",
                 *       "php_version": "8.3"
                 *     }
                 */
                "application/json": components["schemas"]["NewSite"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Site"];
                        errors: null;
                    };
                };
            };
        };
    };
    validateSiteName: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "my-first-site"
                 *     }
                 */
                "application/json": components["schemas"]["ValidateSiteNameBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["NameCheck"];
                        errors: null;
                    };
                };
            };
        };
    };
    searchSites: {
        parameters: {
            query?: {
                /** @description Adds `status` to each site, as `GET /v1/sites/{id}/status` returns it */
                include?: "status";
            };
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "filters": [
                 *         {
                 *           "key": "name",
                 *           "value": "shop"
                 *         }
                 *       ],
                 *       "sort": "-disk"
                 *     }
                 */
                "application/json": components["schemas"]["SearchSitesBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["FoundSite"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    listInstallOptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        /**
                         * @example [
                         *       "wordpress",
                         *       "woocommerce"
                         *     ]
                         */
                        data: string[];
                        errors: null;
                    };
                };
            };
        };
    };
    listDatacenters: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Datacenter"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listPhpVersions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        /**
                         * @example [
                         *       "8.1",
                         *       "8.2",
                         *       "8.3"
                         *     ]
                         */
                        data: string[];
                        errors: null;
                    };
                };
            };
        };
    };
    getSite: {
        parameters: {
            query?: {
                /** @description Adds `status` to each site, as `GET /v1/sites/{id}/status` returns it */
                include?: "status";
            };
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["WholeSite"];
                        errors: null;
                    };
                };
            };
        };
    };
    updateSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "My first site",
                 *       "php_version": "8.3"
                 *     }
                 */
                "application/json": components["schemas"]["SiteUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Site"];
                        errors: null;
                    };
                };
            };
        };
    };
    deleteSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getSiteStatus: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteStatus"];
                        errors: null;
                    };
                };
            };
        };
    };
    moveSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "runtime": "wasm",
                 *       "php_version": "8.3"
                 *     }
                 */
                "application/json": components["schemas"]["Move"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Moving"];
                        errors: null;
                    };
                };
            };
        };
    };
    disableSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Site"];
                        errors: null;
                    };
                };
            };
        };
    };
    enableSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Site"];
                        errors: null;
                    };
                };
            };
        };
    };
    convertSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteDetail"];
                        errors: null;
                    };
                };
            };
        };
    };
    cloneSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "my-first-copy"
                 *     }
                 */
                "application/json": components["schemas"]["NewClone"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Site"];
                        errors: null;
                    };
                };
            };
        };
    };
    resetAdminPassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        /**
                         * @description The new password
                         * @example kT4vXq9sLw2e
                         */
                        data: string;
                        errors: null;
                    };
                };
            };
        };
    };
    setSafeMode: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["SafeMode"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SafeMode"];
                        errors: null;
                    };
                };
            };
        };
    };
    search: {
        parameters: {
            query: {
                /**
                 * @description Up to 8 words
                 * @example shop
                 */
                q: string;
                /** @description How many results of each kind. Default: 10 */
                limit?: number;
            };
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SearchResults"];
                        errors: null;
                    };
                };
            };
        };
    };
    listZones: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Zone"][];
                        errors: null;
                    };
                };
            };
        };
    };
    getZone: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ZoneWithRecords"];
                        errors: null;
                    };
                };
            };
        };
    };
    createDnsRecord: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "A",
                 *       "name": "mail",
                 *       "value": "192.0.2.1"
                 *     }
                 */
                "application/json": components["schemas"]["NewDnsRecord"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ZoneWithRecords"];
                        errors: null;
                    };
                };
            };
        };
    };
    deleteDnsRecord: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ZoneWithRecords"];
                        errors: null;
                    };
                };
            };
        };
    };
    applyMailProvider: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "provider": "google_workspace"
                 *     }
                 */
                "application/json": components["schemas"]["MailProvider"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getSsl: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SslDetails"];
                        errors: null;
                    };
                };
            };
        };
    };
    retrySsl: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "force_ssl": false
                 *     }
                 */
                "application/json": components["schemas"]["SslRetry"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    exportZone: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        /**
                         * @example $ORIGIN example.com.
                         *     $TTL 3600
                         *     www	3600	IN	A	192.0.2.1
                         */
                        data: string;
                        errors: null;
                    };
                };
            };
        };
    };
    importZone: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "mail 3600 IN A 192.0.2.1\n",
                 *       "strict": false
                 *     }
                 */
                "application/json": components["schemas"]["ZoneFile"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ImportedZone"];
                        errors: null;
                    };
                };
            };
        };
    };
    previewZoneFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "mail 3600 IN A 192.0.2.1\n"
                 *     }
                 */
                "application/json": components["schemas"]["ZoneFileToPreview"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ZoneFilePreview"];
                        errors: null;
                    };
                };
            };
        };
    };
    getDnssec: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Dnssec"];
                        errors: null;
                    };
                };
            };
        };
    };
    changeDnssec: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["DnssecChange"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Dnssec"];
                        errors: null;
                    };
                };
            };
        };
    };
    rollDnssecKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                zone_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Dnssec"];
                        errors: null;
                    };
                };
            };
        };
    };
    getEdgeCache: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["EdgeCache"];
                        errors: null;
                    };
                };
            };
        };
    };
    toggleEdgeCache: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["Switch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    purgeEdgeCache: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    setDefensiveMode: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "duration": "2-hours"
                 *     }
                 */
                "application/json": components["schemas"]["SetDefensiveModeBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Site"];
                        errors: null;
                    };
                };
            };
        };
    };
    purgeCdn: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getCdn: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Cdn"];
                        errors: null;
                    };
                };
            };
        };
    };
    toggleCdn: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["Switch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Cdn"];
                        errors: null;
                    };
                };
            };
        };
    };
    enableCdn: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Cdn"];
                        errors: null;
                    };
                };
            };
        };
    };
    disableCdn: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Cdn"];
                        errors: null;
                    };
                };
            };
        };
    };
    purgeObjectCache: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    toggleLight404: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["Switch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Light404"];
                        errors: null;
                    };
                };
            };
        };
    };
    toggleMultisite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["Switch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Site"];
                        errors: null;
                    };
                };
            };
        };
    };
    toggleMaintenance: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["Switch"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listMuPlugins: {
        parameters: {
            query?: {
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["MuPlugin"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    createMuPlugin: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "path": "https://plugins.example.com/agency-tools.php",
                 *       "existing_sites": true,
                 *       "future_sites": true
                 *     }
                 */
                "application/json": components["schemas"]["CreateMuPluginBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ChangedMuPlugin"];
                        errors: null;
                    };
                };
            };
        };
    };
    getMuPlugin: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["MuPlugin"];
                        errors: null;
                    };
                };
            };
        };
    };
    updateMuPlugin: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ChangedMuPlugin"];
                        errors: null;
                    };
                };
            };
        };
    };
    deleteMuPlugin: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listOndemandBackups: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["OndemandBackup"][];
                        errors: null;
                    };
                };
            };
        };
    };
    createOndemandBackup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "backup_type": "fs"
                 *     }
                 */
                "application/json": components["schemas"]["NewBackup"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["OrderedBackup"];
                        errors: null;
                    };
                };
            };
        };
    };
    getOndemandBackup: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["OndemandBackup"];
                        errors: null;
                    };
                };
            };
        };
    };
    deleteOndemandBackup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["OndemandBackup"];
                        errors: null;
                    };
                };
            };
        };
    };
    downloadOndemandBackup: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-bzip2": string;
                    "application/sql": string;
                };
            };
            /** @description The part that `Range` requests */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-bzip2": string;
                    "application/sql": string;
                };
            };
        };
    };
    listBackups: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["BackupPair"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listFilesystemBackups: {
        parameters: {
            query?: {
                /** @description An addition of Stead. Adds `details` to each backup: its reason, size, end, and damage */
                include?: "details";
            };
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Backup"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listDatabaseBackups: {
        parameters: {
            query?: {
                /** @description An addition of Stead. Adds `details` to each backup: its reason, size, end, and damage */
                include?: "details";
            };
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Backup"][];
                        errors: null;
                    };
                };
            };
        };
    };
    downloadBackup: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                backup_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-bzip2": string;
                    "application/sql": string;
                };
            };
            /** @description The part that `Range` requests */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-bzip2": string;
                    "application/sql": string;
                };
            };
        };
    };
    restoreSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "filesystem_id": 12,
                 *       "database_id": 13
                 *     }
                 */
                "application/json": components["schemas"]["NewRestore"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getRestorePreview: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                operation_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["RestorePreview"];
                        errors: null;
                    };
                };
            };
        };
    };
    undoOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Operation"];
                        errors: null;
                    };
                };
            };
        };
    };
    syncSites: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from_site_id": 1,
                 *       "to_site_id": 2,
                 *       "themes_directory": false,
                 *       "plugins_directory": false,
                 *       "uploads_directory": true,
                 *       "wp_content_directory": false,
                 *       "root_directory": false,
                 *       "skip_http_check": false,
                 *       "database": true
                 *     }
                 */
                "application/json": components["schemas"]["NewSync"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listEnvironments: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Environments"];
                        errors: null;
                    };
                };
            };
        };
    };
    createEnvironment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "my-first-site-staging",
                 *       "staging": true
                 *     }
                 */
                "application/json": components["schemas"]["NewEnvironment"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Environment"];
                        errors: null;
                    };
                };
            };
        };
    };
    unlinkEnvironment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                environment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    pushEnvironment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                environment_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "preset": "chosen",
                 *       "database": false,
                 *       "tables": [
                 *         "wp_posts",
                 *         "wp_postmeta"
                 *       ],
                 *       "skip_http_check": false,
                 *       "dry_run": true
                 *     }
                 */
                "application/json": components["schemas"]["Transfer"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    pullEnvironment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                environment_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "preset": "chosen",
                 *       "database": false,
                 *       "tables": [
                 *         "wp_posts",
                 *         "wp_postmeta"
                 *       ],
                 *       "skip_http_check": false,
                 *       "dry_run": true
                 *     }
                 */
                "application/json": components["schemas"]["Transfer"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getEnvironmentPreview: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                environment_id: number;
                /** @example 1 */
                operation_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SyncPreview"];
                        errors: null;
                    };
                };
            };
        };
    };
    listAllEnvironments: {
        parameters: {
            query: {
                /**
                 * @description IDs of live sites, with commas between them. At most 100
                 * @example 1,2
                 */
                site_ids: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["EnvironmentOfLiveSite"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listImports: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Import"][];
                        errors: null;
                    };
                };
            };
        };
    };
    createImport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "urls": [
                 *         "https://old.example.com/backup.wpress"
                 *       ],
                 *       "start": false
                 *     }
                 */
                "application/json": components["schemas"]["NewImport"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Import"];
                        errors: null;
                    };
                };
            };
        };
    };
    getImport: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                import_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Import"];
                        errors: null;
                    };
                };
            };
        };
    };
    deleteImport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                import_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getImportPlugin: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                import_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": string;
                };
            };
        };
    };
    fetchImport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                import_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Import"];
                        errors: null;
                    };
                };
            };
        };
    };
    startImport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                import_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "fetch_again": true
                 *     }
                 */
                "application/json": components["schemas"]["ImportStart"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Import"];
                        errors: null;
                    };
                };
            };
        };
    };
    listCollaborators: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["CollaboratorWithRoles"][];
                        errors: null;
                    };
                };
            };
        };
    };
    getCollaborator: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["CollaboratorWithRoles"];
                        errors: null;
                    };
                };
            };
        };
    };
    updateAccountLevelAccess: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "colleague@example.com",
                 *       "add_to_all_new": true,
                 *       "create_site": false,
                 *       "roles": [
                 *         "manage_notes",
                 *         "wp_access"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["UpdateAccountLevelAccessBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AccountAccess"];
                        errors: null;
                    };
                };
            };
        };
    };
    batchCreateCollaborators: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "colleague@example.com",
                 *       "siteIds": [
                 *         1
                 *       ],
                 *       "roles": [
                 *         "manage_notes",
                 *         "wp_access"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["BatchCreateCollaboratorsBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    batchDestroyCollaborators: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "colleague@example.com",
                 *       "siteIds": [
                 *         1
                 *       ],
                 *       "delete_wp_user": false
                 *     }
                 */
                "application/json": components["schemas"]["BatchDestroyCollaboratorsBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listSiteCollaborators: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Collaborator"][];
                        errors: null;
                    };
                };
            };
        };
    };
    addSiteCollaborator: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "colleague@example.com",
                 *       "roles": [
                 *         "manage_notes",
                 *         "wp_access"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["AddSiteCollaboratorBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["CollaboratorWithRoles"];
                        errors: null;
                    };
                };
            };
        };
    };
    getSiteCollaborator: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Collaborator"];
                        errors: null;
                    };
                };
            };
        };
    };
    removeSiteCollaborator: {
        parameters: {
            query?: {
                /** @description Default: false */
                delete_wp_user?: boolean;
            };
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    resetCollaboratorPassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        /**
                         * @description The new password
                         * @example kT4vXq9sLw2e
                         */
                        data: string;
                        errors: null;
                    };
                };
            };
        };
    };
    listSiteRights: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteRight"][];
                        errors: null;
                    };
                };
            };
        };
    };
    addFavorite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    removeFavorite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    addSiteTags: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "tag_names": [
                 *         "shop"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TagNames"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Site"];
                        errors: null;
                    };
                };
            };
        };
    };
    removeSiteTags: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "tag_ids": [
                 *         1
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TagIds"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Site"];
                        errors: null;
                    };
                };
            };
        };
    };
    getCollaborationSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                collaborator_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteWithAddresses"];
                        errors: null;
                    };
                };
            };
        };
    };
    addCollaborationTags: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                collaborator_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "tag_names": [
                 *         "shop"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TagNames"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteWithAddresses"];
                        errors: null;
                    };
                };
            };
        };
    };
    removeCollaborationTags: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                collaborator_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "tag_ids": [
                 *         1
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TagIdsIfAny"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteWithAddresses"];
                        errors: null;
                    };
                };
            };
        };
    };
    listCollaboratorSites: {
        parameters: {
            query?: {
                tag_name?: string;
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path: {
                /**
                 * @description E-mail address, percent-encoded
                 * @example colleague@example.com
                 */
                email_address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["CollaboratorSites"];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    getCollaboratorSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description E-mail address, percent-encoded
                 * @example colleague@example.com
                 */
                email_address: string;
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["CollaboratorSites"];
                        errors: null;
                    };
                };
            };
        };
    };
    addCollaboratorFavorite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description E-mail address, percent-encoded
                 * @example colleague@example.com
                 */
                email_address: string;
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["CollaboratorSites"];
                        errors: null;
                    };
                };
            };
        };
    };
    removeCollaboratorFavorite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description E-mail address, percent-encoded
                 * @example colleague@example.com
                 */
                email_address: string;
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["CollaboratorSites"];
                        errors: null;
                    };
                };
            };
        };
    };
    addCollaboratorTags: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description E-mail address, percent-encoded
                 * @example colleague@example.com
                 */
                email_address: string;
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "tag_names": [
                 *         "shop"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TagNames"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["CollaboratorSites"];
                        errors: null;
                    };
                };
            };
        };
    };
    removeCollaboratorTags: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description E-mail address, percent-encoded
                 * @example colleague@example.com
                 */
                email_address: string;
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "tag_ids": [
                 *         1
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TagIds"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["CollaboratorSites"];
                        errors: null;
                    };
                };
            };
        };
    };
    listPlugins: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SitePlugin"][];
                        errors: null;
                    };
                };
            };
        };
    };
    updatePlugins: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "plugins": [
                 *         {
                 *           "path": "akismet",
                 *           "version": "5.3"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["PluginReleases"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    installPlugins: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "plugins": [
                 *         {
                 *           "path": "akismet",
                 *           "version": "5.3"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["PluginReleases"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    deletePlugins: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "plugins": [
                 *         {
                 *           "path": "akismet"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["PluginPaths"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    deactivatePlugins: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "plugins": [
                 *         {
                 *           "path": "akismet"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["PluginPaths"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    activatePlugins: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "plugins": [
                 *         {
                 *           "path": "akismet"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["PluginPaths"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listSiteAdvice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteAdvice"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listSafeUpdates: {
        parameters: {
            query?: {
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SafeUpdate"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    startSafeUpdate: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "core": "latest",
                 *       "all": true
                 *     }
                 */
                "application/json": components["schemas"]["SafeUpdateOrder"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getSafeUpdate: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                update_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SafeUpdateReport"];
                        errors: null;
                    };
                };
            };
        };
    };
    getSafeUpdatePicture: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                update_id: number;
                /**
                 * @description Place of the page in the report
                 * @example 0
                 */
                page: number;
                /** @example 1280 */
                width: number;
                /** @example difference */
                kind: "before" | "after" | "difference";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/jpeg": string;
                };
            };
        };
    };
    getSafeUpdateSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SafeUpdateSettings"];
                        errors: null;
                    };
                };
            };
        };
    };
    updateSafeUpdateSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "masks": [
                 *         ".visitor-counter"
                 *       ],
                 *       "paths": [
                 *         "/checkout/"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["SafeUpdateSettingsUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SafeUpdateSettings"];
                        errors: null;
                    };
                };
            };
        };
    };
    getWordpressUpdate: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["WordpressUpdate"];
                        errors: null;
                    };
                };
            };
        };
    };
    listAllSafeUpdates: {
        parameters: {
            query?: {
                state?: "in_progress" | "kept" | "undone" | "failed" | "canceled";
                /**
                 * @description Only those of this safe update of many sites
                 * @example 41
                 */
                batch_id?: number;
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SafeUpdateOfSite"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    startSafeUpdateBatch: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "siteIds": [
                 *         1
                 *       ],
                 *       "core": "latest",
                 *       "all": true
                 *     }
                 */
                "application/json": components["schemas"]["SafeUpdateBatchOrder"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getSafeUpdateBatch: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SafeUpdateBatch"];
                        errors: null;
                    };
                };
            };
        };
    };
    getUpdatePolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["UpdatePolicy"];
                        errors: null;
                    };
                };
            };
        };
    };
    setUpdatePolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "mode": "weekly",
                 *       "weekday": "sunday",
                 *       "hour": 3,
                 *       "time_zone": "UTC"
                 *     }
                 */
                "application/json": components["schemas"]["UpdatePolicyChange"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getDefaultUpdatePolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["DefaultUpdatePolicy"];
                        errors: null;
                    };
                };
            };
        };
    };
    setDefaultUpdatePolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "mode": "weekly",
                 *       "weekday": "sunday",
                 *       "hour": 3,
                 *       "time_zone": "UTC"
                 *     }
                 */
                "application/json": components["schemas"]["DefaultUpdatePolicyChange"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listInstalledPlugins: {
        parameters: {
            query?: {
                /**
                 * @description Part of the name or the slug
                 * @example forms
                 */
                q?: string;
                /** @description `true`: at least one site has an update for it. `false`: none has */
                update_due?: boolean;
                /** @description `true`: it is active on at least one site. `false`: on none */
                active?: boolean;
                /** @description Only what this site has */
                site_id?: number;
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["InstalledExtension"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    listSitesWithPlugin: {
        parameters: {
            query?: {
                /** @description Only sites with this version */
                version?: string;
                /** @description Whether WordPress knows of an update */
                update_due?: boolean;
                /** @description Whether it is active */
                active?: boolean;
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path: {
                /** @example akismet */
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteWithExtension"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    listInstalledThemes: {
        parameters: {
            query?: {
                /**
                 * @description Part of the name or the slug
                 * @example forms
                 */
                q?: string;
                /** @description `true`: at least one site has an update for it. `false`: none has */
                update_due?: boolean;
                /** @description `true`: it is active on at least one site. `false`: on none */
                active?: boolean;
                /** @description Only what this site has */
                site_id?: number;
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["InstalledExtension"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    listSitesWithTheme: {
        parameters: {
            query?: {
                /** @description Only sites with this version */
                version?: string;
                /** @description Whether WordPress knows of an update */
                update_due?: boolean;
                /** @description Whether it is active */
                active?: boolean;
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path: {
                /** @example akismet */
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteWithExtension"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    listVulnerabilities: {
        parameters: {
            query?: {
                /** @description Only vulnerabilities of this site */
                site_id?: number;
                kind?: "plugin" | "theme" | "core";
                severity?: "low" | "medium" | "high" | "critical";
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Vulnerability"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    updateCmsVersion: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "version": "latest"
                 *     }
                 */
                "application/json": components["schemas"]["CmsVersion"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Site"];
                        errors: null;
                    };
                };
            };
        };
    };
    listDomains: {
        parameters: {
            query?: {
                /** @description One entry per address, with the id of its record */
                separate_records?: boolean;
                /** @description An addition of Stead. Adds `reason`: what the DNS answers instead, for example */
                include?: "reason";
            };
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ListedDomain"][];
                        errors: null;
                    };
                };
            };
        };
    };
    addDomain: {
        parameters: {
            query?: {
                /** @description One entry per address, with the id of its record */
                separate_records?: boolean;
            };
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "www.example.com"
                 *     }
                 */
                "application/json": components["schemas"]["NewDomain"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Domain"][];
                        errors: null;
                    };
                };
            };
        };
    };
    getDomain: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Domain"];
                        errors: null;
                    };
                };
            };
        };
    };
    deleteDomain: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    setPrimaryDomain: {
        parameters: {
            query?: {
                /** @description One entry per address, with the id of its record */
                separate_records?: boolean;
            };
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /**
                 * @description Id of the domain, or -1 for the staging address
                 * @example 1
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["PrimaryDomain"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Domain"];
                        errors: null;
                    };
                };
            };
        };
    };
    checkDomain: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listDomainClaims: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["DomainClaim"][];
                        errors: null;
                    };
                };
            };
        };
    };
    cancelDomainClaim: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /**
                 * @description The claimed domain, or a host name in it
                 * @example example.com
                 */
                domain: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listSftpUsers: {
        parameters: {
            query?: {
                /** @description An addition of Stead. Adds `sftpPort`, where hosts accept connections */
                include?: "port";
            };
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SftpUser"][];
                        errors: null;
                    };
                };
            };
        };
    };
    getSftpUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example my-first-site_1 */
                username: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SftpUser"];
                        errors: null;
                    };
                };
            };
        };
    };
    resetSftpPassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example my-first-site_1 */
                username: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        /**
                         * @description The new password
                         * @example kT4vXq9sLw2e
                         */
                        data: string;
                        errors: null;
                    };
                };
            };
        };
    };
    listSftpKeys: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
                /** @example my-first-site_1 */
                username: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SftpKey"][];
                        errors: null;
                    };
                };
            };
        };
    };
    addSftpKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example my-first-site_1 */
                username: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBxSxnVbFVFF9zWQ6Ky5hLYDZ1GlDbrnAjGYgdzvCT8P me@laptop"
                 *     }
                 */
                "application/json": components["schemas"]["NewSftpKey"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SftpKey"];
                        errors: null;
                    };
                };
            };
        };
    };
    deleteSftpKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example my-first-site_1 */
                username: string;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    disconnectSsh: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getExtensionLicense: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ExtensionLicense"] | null;
                        errors: null;
                    };
                };
            };
        };
    };
    issueExtensionLicense: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    revokeExtensionLicense: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    createOneTimeLogin: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "colleague@example.com",
                 *       "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
                 *     }
                 */
                "application/json": components["schemas"]["CreateOneTimeLoginBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["LoginLink"];
                        errors: null;
                    };
                };
            };
        };
    };
    getDatabaseAdminUrl: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        /** @example http://my-first-site.example.com/stead-database/?token=… */
                        data: string;
                        errors: null;
                    };
                };
            };
        };
    };
    listNotes: {
        parameters: {
            query?: {
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Note"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    createNote: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "subject": "Opening hours",
                 *       "body": "<p>They change in May.</p>"
                 *     }
                 */
                "application/json": components["schemas"]["NewNote"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Note"];
                        errors: null;
                    };
                };
            };
        };
    };
    getNote: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Note"];
                        errors: null;
                    };
                };
            };
        };
    };
    updateNote: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "subject": "Opening hours",
                 *       "body": "<p>They change in May.</p>"
                 *     }
                 */
                "application/json": components["schemas"]["NoteUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Note"];
                        errors: null;
                    };
                };
            };
        };
    };
    deleteNote: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listServerLog: {
        parameters: {
            query?: {
                /** @description One or more statuses from 100 to 599, separated by commas */
                status?: number | string;
                request_type?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
                /** @description IP address of the visitor */
                user_ip?: string;
                /** @description `scroll_id` of a page, to get the page after it. Filters in the same request apply to the new page */
                scroll_id?: string;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ServerLog"];
                        errors: null;
                    };
                };
            };
        };
    };
    listPhpLog: {
        parameters: {
            query?: {
                status?: "User" | "Warning" | "Deprecated" | "Fatal error" | "Database error";
                /** @description `scroll_id` of a page, to get the page after it. Filters in the same request apply to the new page */
                scroll_id?: string;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["PhpLog"];
                        errors: null;
                    };
                };
            };
        };
    };
    countPhpLog: {
        parameters: {
            query?: {
                status?: "User" | "Warning" | "Deprecated" | "Fatal error" | "Database error";
            };
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["PhpLogCount"];
                        errors: null;
                    };
                };
            };
        };
    };
    getSiteStatistics: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteStatistics"];
                        errors: null;
                    };
                };
            };
        };
    };
    listDailyStatistics: {
        parameters: {
            query?: {
                /** @description Number of days, including today. Default: 30 */
                days?: number;
            };
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["DayViews"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listSiteFigures: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "site_ids": [
                 *         1,
                 *         2
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ListSiteFiguresBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteFigures"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listMonitoredSites: {
        parameters: {
            query?: {
                /** @description Only sites in this state */
                state?: "up" | "slow" | "down" | "paused" | "unknown";
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["MonitoredSite"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    getSiteUptime: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteUptime"];
                        errors: null;
                    };
                };
            };
        };
    };
    listSiteIncidents: {
        parameters: {
            query?: {
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteIncident"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    listAlerts: {
        parameters: {
            query?: {
                /** @description Only open alerts, or only ended ones */
                state?: "firing" | "resolved";
                /** @description Only alerts of this site */
                site_id?: number;
                /**
                 * @description Kind of alert
                 * @example site_down
                 */
                kind?: "site_down" | "domain_elsewhere" | "certificate_expiring" | "site_disk_filling" | "site_disk_full" | "backup_failed" | "backup_proof_failed" | "update_undone" | "vulnerability" | "php_errors" | "mail_bouncing" | "host_silent" | "host_disk_filling" | "host_disk_full" | "platform_certificate_expiring";
                /** @description With `true`: only open alerts that your bell shows, without muted ones */
                bell?: boolean;
                /** @description With `true`: only alerts that you have not marked as read */
                unread?: boolean;
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Alert"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    markAlertsRead: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "up_to": 31
                 *     }
                 */
                "application/json": components["schemas"]["AlertsRead"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getAlertSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AlertSettings"];
                        errors: null;
                    };
                };
            };
        };
    };
    updateAlertSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "mail": [
                 *         "site_down"
                 *       ],
                 *       "bell": [
                 *         "site_down"
                 *       ],
                 *       "mail_shared_sites": false
                 *     }
                 */
                "application/json": components["schemas"]["AlertSettingsUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AlertSettings"];
                        errors: null;
                    };
                };
            };
        };
    };
    listAlertMutes: {
        parameters: {
            query?: {
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AlertMute"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    createAlertMute: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "kind": "site_down",
                 *       "until": "2099-02-01T08:00:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["NewAlertMute"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AlertMute"];
                        errors: null;
                    };
                };
            };
        };
    };
    deleteAlertMute: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    listAlertChats: {
        parameters: {
            query?: {
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AlertChat"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    createAlertChat: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.com/services/T0000/B0000/secret",
                 *       "description": "#operations",
                 *       "kinds": null
                 *     }
                 */
                "application/json": components["schemas"]["NewAlertChat"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AlertChat"];
                        errors: null;
                    };
                };
            };
        };
    };
    testAlertChat: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AlertChat"];
                        errors: null;
                    };
                };
            };
        };
    };
    deleteAlertChat: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getLatestPerformanceReport: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["PerformanceReport"] | null;
                        errors: null;
                    };
                };
            };
        };
    };
    listPerformanceReports: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["PastPerformanceReport"][];
                        errors: null;
                    };
                };
            };
        };
    };
    orderPerformanceReport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    getPerformanceReportThumbnail: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                report_id: number;
                /** @example desktop */
                device: "desktop" | "mobile";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/jpeg": string;
                };
            };
        };
    };
    listClientReports: {
        parameters: {
            query?: {
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ClientReportMonth"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    getClientReport: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /**
                 * @description Year and month
                 * @example 2026-10
                 */
                month: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ClientReport"];
                        errors: null;
                    };
                };
            };
        };
    };
    getClientReportPage: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /**
                 * @description Year and month
                 * @example 2026-10
                 */
                month: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    getClientReportPdf: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /**
                 * @description Year and month
                 * @example 2026-10
                 */
                month: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": string;
                };
            };
        };
    };
    getClientReportSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ClientReportSettings"];
                        errors: null;
                    };
                };
            };
        };
    };
    updateClientReportSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "recipients": [
                 *         "client@example.com"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ClientReportSettingsUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ClientReportSettings"];
                        errors: null;
                    };
                };
            };
        };
    };
    listOperations: {
        parameters: {
            query?: {
                site_id?: number;
                state?: "queued" | "running" | "succeeded" | "failed" | "canceled";
                type?: string;
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Operation"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    getOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Operation"];
                        errors: null;
                    };
                };
            };
        };
    };
    watchOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    cancelOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Operation"];
                        errors: null;
                    };
                };
            };
        };
    };
    retryOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Operation"];
                        errors: null;
                    };
                };
            };
        };
    };
    pauseOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Operation"];
                        errors: null;
                    };
                };
            };
        };
    };
    continueOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Operation"];
                        errors: null;
                    };
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Webhook"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.com/stead",
                 *       "description": "Deploy bot",
                 *       "event_types": [
                 *         "site_created",
                 *         "site_deleted"
                 *       ],
                 *       "site_ids": null,
                 *       "enabled": true
                 *     }
                 */
                "application/json": components["schemas"]["CreateWebhookBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["NewWebhook"];
                        errors: null;
                    };
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Webhook"];
                        errors: null;
                    };
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.com/stead",
                 *       "description": "Deploy bot",
                 *       "event_types": [
                 *         "site_created",
                 *         "site_deleted"
                 *       ],
                 *       "site_ids": null,
                 *       "enabled": true,
                 *       "rotate_secret": false
                 *     }
                 */
                "application/json": components["schemas"]["UpdateWebhookBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["ChangedWebhook"];
                        errors: null;
                    };
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: null;
                        errors: null;
                    };
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["WebhookDelivery"];
                        errors: null;
                    };
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["WebhookDelivery"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    redeliver: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
                /** @example 1 */
                delivery_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["WebhookDelivery"];
                        errors: null;
                    };
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Return events after the event with this id */
                after?: string;
                /** @description Return events before the event with this id */
                before?: string;
                /** @description Return only events of these types, separated by commas */
                type?: string;
                /** @description Return only events of this site */
                site_id?: number;
                /** @description Number of events. Default: 20, maximum: 50 */
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Event"][];
                        errors: null;
                    };
                };
            };
        };
    };
    getInstallation: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Installation"];
                        errors: null;
                    };
                };
            };
        };
    };
    checkInstallation: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["InstallationChecks"];
                        errors: null;
                    };
                };
            };
        };
    };
    listInstallationAccounts: {
        parameters: {
            query?: {
                /** @description Page number, starting at 1 */
                page?: number;
                /** @description Entries per page. Default: 20, maximum: 50 */
                per_page?: number;
                /** @description Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AccountOfInstallation"][];
                        errors: null;
                        page?: components["schemas"]["Page"];
                    };
                };
            };
        };
    };
    suspendAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AccountOfInstallation"];
                        errors: null;
                    };
                };
            };
        };
    };
    resumeAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AccountOfInstallation"];
                        errors: null;
                    };
                };
            };
        };
    };
    getAccountRemoval: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the client's copy. The response is 304 if the copy is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AccountRemovalReport"];
                        errors: null;
                    };
                };
            };
        };
    };
    removeAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "customer@example.com",
                 *       "keep_days": 7
                 *     }
                 */
                "application/json": components["schemas"]["NewAccountRemoval"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AccountOfInstallation"];
                        errors: null;
                    };
                };
            };
        };
    };
    cancelAccountRemoval: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["AccountOfInstallation"];
                        errors: null;
                    };
                };
            };
        };
    };
    cordonHost: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example host-1 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["HostState"];
                        errors: null;
                    };
                };
            };
        };
    };
    uncordonHost: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example host-1 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["HostState"];
                        errors: null;
                    };
                };
            };
        };
    };
    drainHost: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example host-1 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "to": "host-2",
                 *       "window": "01:00-05:00",
                 *       "deadline": "2100-01-01T05:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["Drain"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["HostState"];
                        errors: null;
                    };
                };
            };
        };
    };
    replaceHost: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example host-1 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "to": "host-2",
                 *       "window": "01:00-05:00",
                 *       "deadline": "2100-01-01T05:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["Replacement"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["HostState"];
                        errors: null;
                    };
                };
            };
        };
    };
    rebalanceHosts: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "dry_run": false,
                 *       "most": 20
                 *     }
                 */
                "application/json": components["schemas"]["NewRebalance"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Rebalance"];
                        errors: null;
                    };
                };
            };
        };
    };
    loseHost: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example host-1 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "confirm": "host-1"
                 *     }
                 */
                "application/json": components["schemas"]["HostLoss"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["HostState"];
                        errors: null;
                    };
                };
            };
        };
    };
    returnHost: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example host-1 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["HostState"];
                        errors: null;
                    };
                };
            };
        };
    };
    removeHost: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example host-1 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["HostState"];
                        errors: null;
                    };
                };
            };
        };
    };
    listSiteHosts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["SiteHost"][];
                        errors: null;
                    };
                };
            };
        };
    };
    relocateSite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Stead keeps the key for 24 hours. It runs a request with the same key once, and returns the same response to each repeat. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "host": "host-2"
                 *     }
                 */
                "application/json": components["schemas"]["Relocation"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Relocating"];
                        errors: null;
                    };
                };
            };
        };
    };
    uploadImport: {
        parameters: {
            query: {
                /**
                 * @description Where the part begins in the file
                 * @example 0
                 */
                offset: number;
                /** @description Checksum of the part, in hex. Stead refuses a part that does not match */
                sha256?: string;
            };
            header?: never;
            path: {
                /** @example 1 */
                site_id: number;
                /** @example 1 */
                import_id: number;
                /** @example 1 */
                number: number;
            };
            cookie?: never;
        };
        /** @description The raw bytes of the part */
        requestBody?: {
            content: {
                /** @example  */
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example Success */
                        message: string;
                        data: components["schemas"]["Import"];
                        errors: null;
                    };
                };
            };
        };
    };
    issueToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "grant_type": "client_credentials",
                 *       "client_id": "your-client-id",
                 *       "client_secret": "your-client-secret"
                 *     }
                 */
                "application/x-www-form-urlencoded": components["schemas"]["IssueTokenBody"];
                /**
                 * @example {
                 *       "grant_type": "client_credentials",
                 *       "client_id": "your-client-id",
                 *       "client_secret": "your-client-secret"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["IssueTokenBody"];
                /**
                 * @example {
                 *       "grant_type": "client_credentials",
                 *       "client_id": "your-client-id",
                 *       "client_secret": "your-client-secret"
                 *     }
                 */
                "application/json": components["schemas"]["IssueTokenBody"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "token": "mF_9.B5f-4.1JqM",
                 *       "client_id": "your-client-id",
                 *       "client_secret": "your-client-secret"
                 *     }
                 */
                "application/x-www-form-urlencoded": components["schemas"]["RevokeTokenBody"];
                /**
                 * @example {
                 *       "token": "mF_9.B5f-4.1JqM",
                 *       "client_id": "your-client-id",
                 *       "client_secret": "your-client-secret"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["RevokeTokenBody"];
                /**
                 * @example {
                 *       "token": "mF_9.B5f-4.1JqM",
                 *       "client_id": "your-client-id",
                 *       "client_secret": "your-client-secret"
                 *     }
                 */
                "application/json": components["schemas"]["RevokeTokenBody"];
            };
        };
        responses: {
            /** @description The response has no body */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
