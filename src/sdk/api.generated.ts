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
         * Read where tokens come from
         * @description Authorization server metadata (RFC 8414). Addresses are those under which this Stead was asked.
         *
         *     Needs no access token.
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
         * Whose session this is
         * @description What the control panel asks when it is opened. A session that is used goes on: its end is 30 days from now.
         *
         *     For people in a browser: needs a session of the control panel.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Sign in to the control panel
         * @description Sets a cookie that stands for a session: for pages of this address a caller like a token of an application with the scope `owner`. Programs use `POST /auth/token`. Who has set up an authenticator app sends its `code`, too, or a recovery code. Wrong guesses are slowed down.
         *
         *     Needs no access token.
         */
        post: operations["signIn"];
        /**
         * Sign out of the control panel
         * @description The session of this request ends at once, everywhere.
         *
         *     For people in a browser: needs a session of the control panel.
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
         * Begin to sign in, or to show who you are, with a passkey
         * @description What a page gives to `PublicKeyCredential.parseRequestOptionsFromJSON`. The answer of the browser counts for five minutes, once.
         *
         *     Needs no access token.
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
         * @description As `POST /v1/session`, by what a browser made of `POST /v1/session/passkey/options`. The device has asked for a finger, a face or a PIN: no code is asked for.
         *
         *     Needs no access token.
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
         * Show again that it is you
         * @description For 15 minutes this session may do what cannot be taken back and see new secrets: operations that ask for it answer 403 `proof_needed` before.
         *
         *     For people in a browser: needs a session of the control panel.
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
         * Show again that it is you, with a passkey
         * @description As `POST /v1/session/proof`, by what a browser made of `POST /v1/session/passkey/options`. Another account’s passkey is refused.
         *
         *     For people in a browser: needs a session of the control panel.
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
         * Ask for a link to set a new password
         * @description Goes by mail to the address, if it is that of an account; the answer does not tell. The link works once, within an hour. At most three an hour go to one address.
         *
         *     Needs no access token.
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
         * Set a password by a link, and sign in
         * @description Of the first start, an invitation, or a mail for a lost password. All sessions of the account end, and one begins. Who has set up an authenticator app is asked for its `code`, too.
         *
         *     Needs no access token.
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
         * Begin to add a passkey by a link
         * @description As `POST /v1/passkeys/options`, for who has a link and no session. Nothing changes, and the link is not used.
         *
         *     Needs no access token.
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
         * Add a passkey by a link, and sign in
         * @description In place of a password, by any link that sets one; a password that there is stays. All sessions of the account end, and one begins. Who has set up an authenticator app is asked for its `code`, too.
         *
         *     Needs no access token.
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
         * Change the password of the control panel
         * @description All other sessions end. Who has lost the password asks for a link: `POST /v1/password-links`.
         *
         *     Needs an application with account owner permission (scope `owner`).
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
         * Switch on codes of an authenticator app
         * @description From now on signing in asks for one. The recovery codes are shown in this answer only; each works once in place of a code.
         *
         *     Needs an application with account owner permission (scope `owner`). A session of the control panel must have shown its password within 15 minutes.
         */
        put: operations["confirmTotp"];
        /**
         * Begin to set up an authenticator app
         * @description Nothing changes before `PUT /v1/totp` has a code of it. Begun again, the secret before it is dropped.
         *
         *     Needs an application with account owner permission (scope `owner`). A session of the control panel must have shown its password within 15 minutes.
         */
        post: operations["beginTotp"];
        /**
         * Switch off codes of an authenticator app
         * @description The password alone is enough from now on. Recovery codes are forgotten.
         *
         *     Needs an application with account owner permission (scope `owner`). A session of the control panel must have shown its password within 15 minutes.
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
         * @description The oldest first: at most 20.
         *
         *     Needs an application with account owner permission (scope `owner`).
         */
        get: operations["listPasskeys"];
        put?: never;
        /**
         * Add a passkey
         * @description Signs in from now on, without the password and without a code: the device itself asks for a finger, a face or a PIN. It counts at the host name that it was made at.
         *
         *     For people in a browser: needs a session of the control panel. A session of the control panel must have shown its password within 15 minutes.
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
         * Begin to add a passkey
         * @description What a page gives to `PublicKeyCredential.parseCreationOptionsFromJSON`. Nothing changes before `POST /v1/passkeys` has what the browser made of it, within five minutes.
         *
         *     For people in a browser: needs a session of the control panel. A session of the control panel must have shown its password within 15 minutes.
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
         * @description Nobody signs in by it any more. Sessions that it has begun go on: end them under `/v1/sessions`.
         *
         *     Needs an application with account owner permission (scope `owner`). A session of the control panel must have shown its password within 15 minutes.
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
         * @description Those of the control panel that have not ended: at most 50. The one that was used last comes first.
         *
         *     Needs an application with account owner permission (scope `owner`).
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
         * @description Whoever has its cookie is signed out at once: a browser that was left somewhere, or stolen.
         *
         *     Needs an application with account owner permission (scope `owner`).
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
         * @description In order of id, at most 100. Revoked ones are left out, and secrets are never shown again.
         *
         *     Needs an application with account owner permission (scope `owner`).
         */
        get: operations["listApplications"];
        put?: never;
        /**
         * Make an API application
         * @description A client id and secret for `POST /auth/token`. The secret is shown in this answer only.
         *
         *     Needs an application with account owner permission (scope `owner`). A session of the control panel must have shown its password within 15 minutes.
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
         * @description Its tokens end at once, everywhere. It cannot be undone.
         *
         *     Needs an application with account owner permission (scope `owner`). A session of the control panel must have shown its password within 15 minutes.
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
        /** Read the account */
        get: operations["getAccount"];
        /**
         * Change what new sites get
         * @description At least one field. Sites that are there stay as they are.
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
        /** List the add-ons on offer */
        get: operations["listAddons"];
        /**
         * Attach or detach an add-on
         * @description A session of the control panel must have shown its password within 15 minutes.
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
         * Read the activity log of the account
         * @description What was done to the account and to its sites, newest first. Kept for 60 days.
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
         * Read, or follow, what happens
         * @description The newest ten entries of the activity log of the account. With `Accept: text/event-stream` a stream of server-sent events, from now on or behind `Last-Event-ID`, that has those of sites that the account collaborates on as well: `activity`, whose data is an ActivityEntry with `account_id` and `site_id`; `missed` where more came than was taken, so that what is shown has to be read anew. An entry can come twice. The stream ends soon after its token. An application may have 50 streams at a time.
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
         * @description By name. Those of sites are among them: the log of an account has the entries of its sites, too.
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
         * Read the activity log of a site
         * @description What was done to the site, newest first. Kept for 30 days.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
         * @description By name.
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
         * @description All sites that the caller can see, favourites first, then by name; a page of them with `paginate`.
         */
        get: operations["listSites"];
        put?: never;
        /**
         * Create a site
         * @description Answers at once with a site in state `deploying`; it is `live` when it answers visitors. Progress: `Operation-Id`.
         *
         *     Who may: any account for itself; for another account, whom that account lets create sites.
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
         * @description Always 200: `valid` says whether the name can be had, `message` why not.
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
         * @description Sites that fulfil every filter, favourites first, then by name. `name` and `domain` match a part, `cms_version` (also `wordpress_version`) a beginning, the others exactly.
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
         * Read a site
         * @description Who may: the owning account, or a collaborator of the site with any role.
         */
        get: operations["getSite"];
        /**
         * Update a site
         * @description At least one field. A PHP version takes effect with the next request of a visitor.
         *
         *     Who may: the owning account, or a collaborator of the site with any role; `name`: the role `update_site_custom_name`; `php_version`: the role `update_site_php_version`; `wp_environment_type`: the role `manage_performance`.
         */
        put: operations["updateSite"];
        post?: never;
        /**
         * Delete a site
         * @description The site is gone from every list at once, and visitors get 404. Its files follow in the background; an operator can bring them back while they are in the trash.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `delete_site`. A session of the control panel must have shown its password within 15 minutes.
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
         * Get what visitors of a site get now, and why
         * @description An addition of Stead. `state` of a site says how far it is in its life; this says what its visitors get. Lists of sites, and the site itself, include the same with `?include=status`.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
         * @description Between native PHP with MariaDB, and PHP in WebAssembly with SQLite. The site is closed while it is moved (503 with `Retry-After`): its database is copied and compared table by table, and the site is opened when its WordPress answers; else it stays what it was. Progress: `Operation-Id`. Back is the same the other way round.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `update_site_php_version`.
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
         *     Who may: the owning account, or a collaborator of the site with the role `disable_site`, through an application with the scope `owner`.
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
         * @description Only disabled sites; visitors reach the site again.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `enable_site`, through an application with the scope `owner`.
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
         * Convert a live site into a staging site, or back
         * @description Only `staging` changes, and with it which of the two limits of the plan the site counts against: not its content, caches or environment type. A site with domains must be rid of them before it becomes a staging site.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `convert_site`, through an application with the scope `owner`.
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
         * @description Answers at once with a site in state `cloning`, which is `live` when it answers visitors; the source serves meanwhile. It has the source's files, database, PHP version and tags, and its own address in their place; not its domains, DNS records, collaborators, backups and notes. It belongs to the owner of the source, and counts against that account's plan.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `clone_site`.
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
         * @description Answers with the new random password when WordPress has taken it. Sessions of that user end.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `wp_access`. A session of the control panel must have shown its password within 15 minutes.
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
         * Switch safe mode on or off
         * @description While on, WordPress starts without plugins, must-use plugins, drop-ins and the theme of the site: a default theme that is installed takes its place, the log-in and the dashboard do without one, and no scheduled event runs. Nothing is changed in the site; in the dashboard its plugins can be deactivated. Visitors see the site without its plugins, too. Answers when PHP runs that way and stored pages are purged. `safeMode` of `GET /v1/sites/{id}/status` shows whether it is on.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `wp_access`.
         */
        put: operations["setSafeMode"];
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
         * @description By name: the zones of your account, and those that lead to sites of others on all of which you have the role `manage_dns`.
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
         * Read a DNS zone with its records
         * @description For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone leads to.
         */
        get: operations["getZone"];
        put?: never;
        /**
         * Add a DNS record
         * @description The answer is the zone with all records. An A record with `site_id` gives the site its name as a domain; without `value` it gets the addresses of the edge. A second SPF record goes into the first one of its name. For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone leads to.
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
         * @description The answer is the zone with the remaining records. With the last record of a domain the site loses it; was it the primary one, the site goes back to its address under the staging domain. For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone leads to.
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
         * @description MX, SPF and whatever else the provider asks for and can be known: what only its administration shows (DKIM, proof of ownership) is named in the activity log. Records of another one of these providers are replaced, an SPF record is extended; the same provider again changes nothing. For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone leads to.
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
         * Read the SSL details of an A record
         * @description What is known of the certificate of the name. Where nothing could be ordered yet, only `broken_record` and `broken_check`, with the reason. For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone leads to.
         */
        get: operations["getSsl"];
        /**
         * Try again to get a certificate for an A record
         * @description The operation says how it ends. `force_ssl` is an addition of Stead: whether visitors of the name are sent to https once it has a certificate. For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone leads to.
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
         * @description An addition of Stead: the records as a zone file (RFC 1035 §5), which other name servers and `PUT` of the same path read. For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone leads to.
         */
        get: operations["exportZone"];
        /**
         * Add the records of a zone file
         * @description An addition of Stead: reads a zone file (RFC 1035 §5, as BIND writes it) and adds what is not there yet; nothing is removed. SOA, and NS of the zone itself, are passed over: those are the name server’s own. All of the file, or nothing of it. For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone leads to.
         */
        put: operations["importZone"];
        post?: never;
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
         * Read how a DNS zone is signed
         * @description An addition of Stead: whether the zone is signed, with the DS record for the registrar, and what is to be done next. For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone leads to.
         */
        get: operations["getDnssec"];
        /**
         * Switch DNSSEC of a zone on or off
         * @description An addition of Stead. On: the zone is signed at once; give its DS record to the registrar of the domain. Off: it stays signed as long as the zone above names its key or resolvers may remember that it did, for they would not believe it otherwise; have the registrar remove the DS record first. With what is set already the operation looks at once which keys the zone above names, which is else done every hour while something is waited for. For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone leads to.
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
         * @description An addition of Stead: a new key is published beside the one that signs. When the zone above names it, it signs, and when nobody remembers the old one any more, that one goes, all by itself; `GET /v1/zones/{zone_id}/dnssec` says what is waited for. For the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone leads to.
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
         * @description Who may: the owning account, or a collaborator of the site with any role.
         */
        get: operations["getEdgeCache"];
        /**
         * Switch the edge cache on or off
         * @description Toggles; with `enabled` in the body it sets. Nothing that was stored before is served after.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
         */
        put: operations["toggleEdgeCache"];
        post?: never;
        /**
         * Purge the edge cache
         * @description No page from before is served any more: on all edges within milliseconds as a rule, within a second at most.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
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
         * Switch defensive mode on for a time, or off
         * @description While it is on, visitors prove with a short calculation in their browser that they are no flood. It ends by itself; without a duration it ends now.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
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
         * @description The site's files are read anew. Copies in browsers stay until their time is over.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
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
         * Tell whether the CDN is on
         * @description Who may: the owning account, or a collaborator of the site with any role.
         */
        get: operations["getCdn"];
        /**
         * Switch the CDN on or off
         * @description Toggles; with `enabled` in the body it sets.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
         */
        put: operations["toggleCdn"];
        /**
         * Switch the CDN on
         * @description Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
         */
        post: operations["enableCdn"];
        /**
         * Switch the CDN off
         * @description Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
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
         * Empty the object cache
         * @description Answers when WordPress has emptied it, the one of a persistent drop-in included.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
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
         * Switch lightweight 404 answers on or off
         * @description While on, requests for missing static files (.css .gif .eot .jpg .jpeg .js .otf .png .svg .swf .ttf .webm .webp .woff .woff2) are answered by the platform; while off WordPress answers them. Toggles; with `enabled` in the body it sets.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
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
         * Switch multisite support on or off
         * @description On makes the site a network whose sites live in sub-directories; off takes the constants of the network out of the site's configuration and leaves the data of the network as it is. Applied by a background operation. Toggles; with `enabled` in the body it sets.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
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
         * Switch maintenance mode on or off
         * @description While on, visitors get 503 with a plain page and Retry-After; the dashboard and the log-in work. Applied by a background operation, after those of the site that wait already. Toggles; with `enabled` in the body it sets.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
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
         * @description In order of id, one page.
         */
        get: operations["listMuPlugins"];
        put?: never;
        /**
         * Add a must-use plugin
         * @description One PHP file, fetched from its address and checked by PHP, then brought to all sites of your account (`existing_sites`) and to those that are made afterwards (`future_sites`). What was done with each site: `results` of the operation. A file that cannot be fetched or that PHP cannot read reaches no site; the operation says why, and `PUT` tries again.
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
        /** Read a must-use plugin */
        get: operations["getMuPlugin"];
        /**
         * Fetch a must-use plugin again
         * @description From its stored address, for all sites that have it. When it cannot be fetched, or PHP cannot read it, they keep what they have. To change the address, delete the plugin and add a new one.
         */
        put: operations["updateMuPlugin"];
        post?: never;
        /**
         * Delete a must-use plugin
         * @description It is gone from lists at once, and from all sites in the background. A file that was changed on a site since it was put there stays on that site: `results` of the operation say where.
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
         * @description Newest first, those that are being made and removed included.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `download_backups`.
         */
        get: operations["listOndemandBackups"];
        put?: never;
        /**
         * Create an on-demand backup
         * @description Three of each type at most. It is taken in the background and read back whole before it is `completed`; until then `id` is null, and `requestId`, which becomes its `id`, finds it. The newest of a type is kept for 30 days, an older one for 7 days after the next one was completed.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `download_backups`.
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
         * Read an on-demand backup
         * @description While it is being created, it is found by its `requestId`, which is its `id` later.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `download_backups`.
         */
        get: operations["getOndemandBackup"];
        put?: never;
        post?: never;
        /**
         * Delete an on-demand backup
         * @description Irreversible. It makes room for another one at once, and is gone from the storage soon. One that is being created is given up by canceling its operation.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `download_backups`. A session of the control panel must have shown its password within 15 minutes.
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
         * @description Files are a `.tar.bz2` of the web root with the WordPress core, a database is SQL text. It can be had in parts and gone on with (`Range`, `If-Range` with the `ETag`). Archives are made while they are downloaded: the first time one has no `Content-Length`, and a part that was never made is looked for, which takes its time, and is 503 `archive_length_unknown` with `Retry-After` when it takes more than 50 s, or what `Prefer: wait=<seconds>` says. An application may have 4 downloads at a time.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `download_backups`.
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
         * @description Newest first: each database backup with the newest file backup that is no newer, so that both show the site at about one time. Every completed backup is here, scheduled or on demand.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `download_backups`.
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
         * @description Newest first, scheduled and on demand.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `download_backups`.
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
         * @description Newest first, scheduled and on demand.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `download_backups`.
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
         * @description Files are a `.tar.bz2` of the web root with the WordPress core, a database is SQL text. It can be had in parts and gone on with (`Range`, `If-Range` with the `ETag`). Archives are made while they are downloaded: the first time one has no `Content-Length`, and a part that was never made is looked for, which takes its time, and is 503 `archive_length_unknown` with `Retry-After` when it takes more than 50 s, or what `Prefer: wait=<seconds>` says. An application may have 4 downloads at a time.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `download_backups`.
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
         * @description Files, database, or both, from backups of this site, onto it or onto another site of the same account (which needs the same role there). What is prepared does not disturb the site; then nobody gets to it, its dashboard included, until it is switched over and its WordPress answers. If it does not, everything is as before. What is overwritten is kept for 7 days: `POST /v1/operations/{id}/undo`. The owner and the caller get a mail at the end. The site keeps its release of WordPress, its address and Stead's own files; onto another site also its wp-config.php. With `dry_run` nothing is changed: the operation finds out what would be lost, and `GET /v1/sites/{site_id}/restores/{operation_id}` shows it.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `restore_site`.
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
         * Read what a restore would lose
         * @description The report of a restore with `dry_run`, by the number in its `Operation-Id`, on the site that would be overwritten. 404 until that operation has succeeded.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `restore_site`.
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
         * Undo a restore, a sync, or a change of plugins
         * @description Brings back what the site was before, for 7 days: a restore of what the operation has kept, which can be undone in turn. Of a sync, it is the destination that becomes what it was, in those parts that were synced. Of plugins that were installed, updated or deleted, all plugins and the database become what they were. What was made on the site since is lost with it, as by any restore. Who may restore the site may do it. Answers with the operation that does it.
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
         * @description Overwrites parts of the files, the database, or both, of one site with those of another; addresses of the source become those of the destination. Both sites are backed up before, by on-demand backups: each needs a free slot for each type that is synced. What takes long is done beside the destination while it goes on; then nobody gets to it, its dashboard included, until it is switched over and its front page answers. If that fails, everything is as before. What is overwritten is kept for 7 days: `POST /v1/operations/{id}/undo`. The source serves meanwhile; from one on another host the backup is copied that was taken of it. Both sites must belong to one account. A collaborator needs the role `download_backups` on the source and `restore_site` on the destination, until the sync has ended: without them it fails, and the destination stays as it was. The activity logs and the webhooks of both sites tell of it.
         */
        post: operations["syncSites"];
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
         * @description The last 20, newest first.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `restore_site`.
         */
        get: operations["listImports"];
        put?: never;
        /**
         * Import a site from an archive
         * @description Takes a site of another host from `.zip`, `.tar`, `.tar.gz`, `.wpress` (All-in-One WP Migration), a set of UpdraftPlus, an archive of Duplicator (`.zip`), or an archive of the files and a dump of the database (`.sql`, `.sql.gz`). Name the https addresses of its files (`urls`), or upload them (`files`, then `PUT /v1/sites/{site_id}/imports/{import_id}/uploads/{number}`). First the archive is inspected, which changes nothing on the site: `GET /v1/sites/{site_id}/imports/{import_id}` shows the plan. Then `POST /v1/sites/{site_id}/imports/{import_id}/start` replaces `wp-content` and the database of the site; with `start` that happens automatically when nothing is in the way. Staged data is removed after 24 hours. A site has one import at a time.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `restore_site`.
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
         * @description Its plan as soon as it was inspected, and what to do until visitors come to the new site. After the import also how the front page and five others compare with those of the old site, where that answers.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `restore_site`.
         */
        get: operations["getImport"];
        put?: never;
        post?: never;
        /**
         * Delete an import
         * @description Removes it with its staged data. The site stays as it is. One that is being worked on cannot be deleted: cancel its operation first.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `restore_site`.
         */
        delete: operations["deleteImport"];
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
         * Start an import that was inspected
         * @description Replaces `wp-content` and the database of the site. Stead prepares everything while the site stays open. Then the site is closed until its WordPress answers with the imported content. If it does not answer, Stead restores the site as it was. The site keeps its release of WordPress, its wp-config.php (but for the prefix of the tables) and its address, which takes the place of the old ones everywhere. Stead keeps the overwritten content for 7 days: `POST /v1/operations/{id}/undo`.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `restore_site`.
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
         * @description All collaborators on the caller's sites and the caller's own collaborations, in order of id.
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
         * Read a collaborator
         * @description A collaborator on one of the caller's sites, or a collaboration of the caller's own.
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
         * @description `add_to_all_new`: joins every site created from now on, with `roles`. `create_site`: may create sites for the owner, which includes `add_to_all_new`. A field that is absent keeps its value (false, false and no roles for a new address). With both false account-level access ends, and the collaborator stays on its sites.
         *
         *     Needs an application with account owner permission (scope `owner`).
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
         * @description Where the collaborator is already, it gets these roles instead of its own (without `roles` it keeps them); losing `wp_access` deletes its WordPress user, and the next available administrator takes over the posts. `-1` in `siteIds`: all sites that the caller owns or may do this on. What was done with each site: `results` of the operation.
         *
         *     Who may: the owning account of each site, or a collaborator of it with the role `create_collaborator` and the role `execute_bulk_operations`.
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
         * @description `-1` in `siteIds`: all sites that the caller owns. With `delete_wp_user` its WordPress user goes, too: the oldest administrator takes over the posts. What was done with each site: `results` of the operation.
         *
         *     Who may: the owning account of each site, or a collaborator of it with the role `delete_collaborator` and the role `execute_bulk_operations`.
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
         * @description In order of id, without the owner of the site.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
         */
        get: operations["listSiteCollaborators"];
        put?: never;
        /**
         * Add a collaborator to a site
         * @description An address without an account gets one. Who has no way in yet gets an invitation by mail: its link sets a password for the control panel, once, within a week. With `wp_access` an administrator with that address is made in WordPress, in the background.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `create_collaborator`.
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
         * Read a site's collaborator
         * @description Who may: the owning account, or a collaborator of the site with any role.
         */
        get: operations["getSiteCollaborator"];
        put?: never;
        post?: never;
        /**
         * Remove a collaborator from a site
         * @description With `delete_wp_user` its WordPress user goes, too, in the background: the oldest administrator takes over the posts.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `delete_collaborator`.
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
         * @description Answers with the new random password when WordPress has taken it. Sessions of that user end.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `reset_collaborator_password`. A session of the control panel must have shown its password within 15 minutes.
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
         * @description Every operation on a site, in the order of this description, and whether this token, or session, may do it: for clients that offer only what goes. The operations themselves decide: what an operation needs of other sites, or in the state of this one, is not looked at.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
         * Mark a site as a favourite
         * @description For the caller's account alone. Favourites come first in its lists.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
         */
        post: operations["addFavorite"];
        /**
         * Take a site off the favourites
         * @description For the caller's account alone. Favourites come first in its lists.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
         * @description Tags of the caller's account; other accounts that see the site have their own.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
         */
        post: operations["addSiteTags"];
        /**
         * Remove tags from a site
         * @description Tags of the caller's account; other accounts that see the site have their own.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
         * Read the site of a collaborator
         * @description The site as the collaborator sees it. For the collaborator itself and the owner of the site.
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
         * @description For the collaborator itself and the owner of the site.
         */
        post: operations["addCollaborationTags"];
        /**
         * Remove tags from a site, as a collaborator's
         * @description For the collaborator itself and the owner of the site.
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
         * @description The sites as the collaborator sees them, its favourites first, then by name; one page. For the collaborator itself all of them, for others those that the caller's account owns.
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
        /** Read one of a collaborator's sites */
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
        /** Mark a site as a collaborator's favourite */
        post: operations["addCollaboratorFavorite"];
        /** Take a site off a collaborator's favourites */
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
         * @description As WordPress has them at this moment, must-use plugins and drop-ins included; also of a site that a plugin has broken. Which updates there are is what WordPress has found out last, twice a day by itself.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
         */
        get: operations["listPlugins"];
        /**
         * Update plugins
         * @description Answers when the site has said that it has each of them. To the release that is named, or the latest of the plugin directory; an older one is taken as well. As an installation: one after the other, with the outcome of each in the operation, taken back where it breaks the site, and with an undo for 7 days.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `plugin_management_access`.
         */
        put: operations["updatePlugins"];
        /**
         * Install and activate plugins
         * @description Answers when it is known where each is had from; the work goes on in an operation, whose `results` tell what became of each. It is done by the upgrader of WordPress, one plugin after the other: what breaks the site is taken back, and told in the words of PHP. Before it begins, files and database of the site are kept for 7 days: `POST /v1/operations/{id}/undo`.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `plugin_management_access`.
         */
        post: operations["installPlugins"];
        /**
         * Delete plugins
         * @description Answers when the site has said that it has each of them. Deactivates and uninstalls them, in an operation whose `results` tell what became of each. Before it begins, files and database of the site are kept for 7 days: `POST /v1/operations/{id}/undo`.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `plugin_management_access`.
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
         * @description Answers when the site has said that it has each of them; the work is an operation, whose `results` tell what became of each. One without which the site does not answer is activated again.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `plugin_management_access`.
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
         * @description Answers when the site has said that it has each of them; the work is an operation, whose `results` tell what became of each. One that breaks the site is deactivated again, and told in the words of PHP.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `plugin_management_access`.
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
         * @description An addition of Stead. Returns what the owner of the site should change. Today there is one kind: a WooCommerce shop that uses the embedded database on a host with MariaDB. Stead looks at the plugins that it saw last.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
         * @description With `latest` to the latest stable release; without a version to the other one of the latest stable release and the beta, where there is one. Answers with the site as it is; the work goes on in an operation: the site is closed for the moment of the change, its database is upgraded, and it is opened when its front page answers. When it does not, everything is as it was before, and the operation says why in the words of PHP. A site that has the release already is left alone. Stead looks which releases there are now; when it cannot, it uses what it knew last, and `message` says so.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `update_site_cms_version`.
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
         * @description In order of id. What is said of their health was seen within the last ten minutes or so.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
         */
        get: operations["listDomains"];
        put?: never;
        /**
         * Add a domain to a site
         * @description The answer lists all domains of the site. The zone of the registrable domain is made when there is none, with records for the edge; a registrable domain itself (`example.com`) brings `www.example.com` along where that name is free. International names may be written either way. A domain that another account has can be claimed: the answer is 400 with a TXT record, `_stead-challenge` in the domain. Create it, and send the request again. When Stead sees the record, it answers 201 without the new domain, and `message` says when the domain moves. The other account is told. A day later Stead looks at the record once more, moves the domain, and adds the host name to the site. If the record is gone by then, the claim ends.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_dns`.
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
         * Read a domain of a site
         * @description Who may: the owning account, or a collaborator of the site with any role.
         */
        get: operations["getDomain"];
        put?: never;
        post?: never;
        /**
         * Remove a domain from a site
         * @description Deletes all address records of the host name. The zone and its other records stay. After you remove the primary domain, the site is at its address under the staging domain again.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_dns`.
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
         * Make a domain the primary one
         * @description WordPress is told its new address (in its settings, links, media and serialized values), then the other domains of the site redirect there. `-1` in place of an id: the address under the staging domain.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_dns`.
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
         * Look at a domain now
         * @description An addition of Stead: `healthy`, `dnsConfirmed` and `provisioned` are looked at anew, in an operation.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_dns`.
         */
        post: operations["checkDomain"];
        delete?: never;
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
         * @description The owner of the site and each collaborator with the role `sftp_access` have one, in order of id.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `sftp_access`.
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
         * Read an SFTP user
         * @description Who may: the owning account, or a collaborator of the site with the role `sftp_access`.
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
         * @description Answers with a new random password, which is shown this once. Connections of the user end. A password that a collaborator has made for another user is good as long as that collaborator has the role `sftp_access`.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `sftp_access`. A session of the control panel must have shown its password within 15 minutes.
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
         * @description In order of id.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `sftp_access`.
         */
        get: operations["listSftpKeys"];
        put?: never;
        /**
         * Add a public key to an SFTP user
         * @description Whoever holds the private key can log in as the user. A key that a collaborator has added is good as long as that collaborator has the role `sftp_access`.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `sftp_access`.
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
         * Take a public key from an SFTP user
         * @description Connections of the user end.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `sftp_access`.
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
         * @description Answers when they have ended. Whoever has a password or a key can come back.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `sftp_access`.
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
         * Read the extension license
         * @description The newest one, also when it was revoked.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
         */
        get: operations["getExtensionLicense"];
        put?: never;
        /**
         * Write the extension license into the site
         * @description The first call issues a license; later ones write the same key again, until it is revoked. Answers when the option `stead_ext_license` of the site's options table has the key.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `plugin_management_access`.
         */
        post: operations["issueExtensionLicense"];
        /**
         * Revoke the extension license
         * @description Answers when the key is out of the site's options table; it stays readable here, with the time of its end. A new one is issued by the next POST. Where there is none, nothing changes; one that is revoked is taken out again.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `plugin_management_access`.
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
         * Make a link that logs in to WordPress once
         * @description For the owner of the site or a collaborator with the role `wp_access`. The link is good for 30 seconds and for one use, by a browser whose `User-Agent` is exactly the one given; whoever else opens it, or opens it again, gets the log-in page with the reason.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `wp_access`.
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
         * Make a link that opens the site's database
         * @description Opens Adminer on the database of this site, and on no other. The link is good for 5 minutes and for one browser: the first that opens it has a session of one hour, nobody else gets in by it. Ask for it only when it is about to be used.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `db_admin_access`.
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
         * @description Newest first, one page.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_notes`.
         */
        get: operations["listNotes"];
        put?: never;
        /**
         * Write a note
         * @description Who may: the owning account, or a collaborator of the site with the role `manage_notes`.
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
         * Read a note
         * @description Who may: the owning account, or a collaborator of the site with the role `manage_notes`.
         */
        get: operations["getNote"];
        /**
         * Change a note
         * @description At least one of the fields. `editor` and `updated` change with it.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_notes`.
         */
        put: operations["updateNote"];
        post?: never;
        /**
         * Delete a note
         * @description Who may: the owning account, or a collaborator of the site with the role `manage_notes`.
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
         * Read a site's web server log
         * @description Requests of visitors in the last 7 days, newest first, 200 a page.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
         * Read a site's PHP error log
         * @description Errors of the last 7 days, newest first, 200 a page.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
    "/v1/sites/{site_id}/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read page views and storage use of a site
         * @description Windows that are still open (today, this month, …) are at most five minutes old; the others, and what is used of the disk, are refreshed once a night. The log of the site says who read them, at most once an hour for each person. Days and months are those of UTC.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
         * @description An addition of Stead: every day up to today, the oldest first, also those without visits. What edges have counted is there within seconds.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
    "/v1/sites/{id}/reports/performance/latest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the latest performance report
         * @description `data` is null while there is none. What Lighthouse could not find out is null.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
        get?: never;
        put?: never;
        /**
         * Make a performance report
         * @description A background operation, of a minute or two: a browser opens the front page twice, as on a desktop and as on a phone.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `manage_performance`.
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
         * Get the picture of a performance report
         * @description The page as the browser showed it. `thumbnail_location` of a report has the path.
         *
         *     Who may: the owning account, or a collaborator of the site with any role.
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
    "/v1/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List operations
         * @description Background work, newest first, one page.
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
        /** Read an operation */
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
         * @description Server-sent events: `operation`, whose data is the Operation object, at once and after each change; who reads slowly gets the newest. The stream ends with the operation, and soon after its token has ended or the operation is out of sight. An application may have 50 streams at a time.
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
         * @description At once when it has not begun; else what was done is undone first.
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
         * @description A failed or canceled operation goes on with the steps that are not done. Your rights are checked from then on, not those of the account that asked for it first.
         */
        post: operations["retryOperation"];
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
         * @description In order of id, one page. Secrets are never shown again.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Add a webhook
         * @description It is sent the events of your account and its sites from now on, signed as Standard Webhooks has it. `secret` is what its receiver verifies signatures with; it is shown in this answer only. What was missed: `GET /v1/events`.
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
        /** Read a webhook */
        get: operations["getWebhook"];
        /**
         * Change a webhook
         * @description Fields that are absent stay as they are. With `"enabled": false` what has not arrived yet is given up, and what happens until it is enabled again is not sent; `GET /v1/events` has it. With `"rotate_secret": true` the answer has the new secret.
         */
        put: operations["updateWebhook"];
        post?: never;
        /**
         * Delete a webhook
         * @description With its deliveries. Nothing more is sent; an attempt that is under way may still arrive.
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
         * @description An event of type `test`, signed like any other, sent once and at once, also while the webhook is disabled. What came of it: the deliveries of the webhook.
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
         * @description Newest first, one page, each with all its attempts. Of those that have ended the newest 1,000 are kept, for 30 days.
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
         * @description At once, under the same event id. One that has ended is sent as a delivery of its own, which is tried like any other but waits for no earlier event; one that still waits is tried now.
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
         * Read the events of your account
         * @description What webhooks are told, of the last 30 days: newest first, and on with `before` the id of the last one; with `after` those behind an event, oldest first. Whoever reads on with `after` misses none. With `Accept: text/event-stream` it is a stream of server-sent events that goes on until its token ends: from now on, or behind `Last-Event-ID` (or `after`); `id` is the id of the event, `event` its type, `data` the Event object. An application may have 50 streams at a time.
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
         * How this Stead is
         * @description To who operates it, which is the account that was there first: hosts, queues, budgets, certificates and backups of its records. To all others `health` is null.
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
         * Check this Stead
         * @description What `stead doctor` finds on the machine of the API: names, DNS, ports, certificates, clock, disk, databases, storage, mail, PHP and limits. Takes up to 15 seconds. An answer is kept for ten seconds. For all accounts but the operator, `checks` is null.
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
         * @description Adds the bytes of the request body to the end of the file. A part has at most 16 MB and must arrive within a minute. It is taken whole or not at all. After an interruption continue at `received` of `GET /v1/sites/{site_id}/imports/{import_id}`. When all files are complete, Stead inspects them: that answer has an `Operation-Id`.
         *
         *     Who may: the owning account, or a collaborator of the site with the role `restore_site`.
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
         * @description OAuth 2.0 client credentials (RFC 6749 §4.4). A token is valid for an hour.
         *
         *     Needs no access token.
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
         * @description RFC 7009. The token is unusable at once, everywhere. An unknown token is answered alike.
         *
         *     Needs no access token.
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
        /** @description What went wrong; `errors` has one entry a fault */
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
             * @description Which problem it is, for programs: those of docs/errors.md
             * @example invalid_input
             */
            code: string;
        };
        AuthorizationServer: {
            /**
             * @description Address of this Stead
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
             * @description None: nobody is sent to a page to log in
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
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            expires_at: string;
        };
        CurrentSession: {
            /** @description Of the session */
            id: number;
            account_id: number;
            /** @example owner@example.com */
            email: string;
            /** @example Example Company */
            name: string;
            /** @example https://www.gravatar.com/avatar/c8cd3c64?d=mp */
            gravatar: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            expires_at: string;
            /**
             * @description Until then nothing asks for the password again; null: it is asked for
             * @example 2026-01-31T09:45:00.000Z
             */
            proven_until: string | null;
            /** @description Whether the account operates this Stead: it was there first */
            operator: boolean;
            /** @description Whether codes of an authenticator app are asked for */
            totp: boolean;
            /** @description How many of them are left */
            recovery_codes: number;
            /** @description Whether one was ever set */
            password: boolean;
            /** @description How many there are for this address of the control panel */
            passkeys: number;
        };
        /** @description PublicKeyCredentialRequestOptionsJSON of WebAuthn */
        PasskeyRequestOptions: {
            [key: string]: unknown;
        };
        UsedCredentialResponse: {
            /**
             * @description What the browser did it for
             * @example c3RlYWQ
             */
            clientDataJSON: string;
            /**
             * @description What the device says
             * @example c3RlYWQ
             */
            authenticatorData: string;
            /**
             * @description Of both
             * @example c3RlYWQ
             */
            signature: string;
        };
        /** @description `toJSON()` of what `navigator.credentials.get()` gives */
        UsedCredential: {
            /**
             * @description Of the credential
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
             * @description ISO 8601, UTC, millisecond precision
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
             * @description What the link has behind `#`
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
             * @description What the link has behind `#`
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
             * @description What the browser did it for
             * @example c3RlYWQ
             */
            clientDataJSON: string;
            /**
             * @description The new key
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
        /** @description `toJSON()` of what `navigator.credentials.create()` gives */
        NewCredential: {
            /**
             * @description Of the credential
             * @example c3RlYWQ
             */
            id: string;
            response: components["schemas"]["NewCredentialResponse"];
        };
        CreatePasskeyByLinkBody: {
            /**
             * @description What the link has behind `#`
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
             * @description Base32, for apps without a camera
             * @example JBSWY3DPEHPK3PXP
             */
            secret: string;
            /**
             * @description What a QR code for the app says
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
             * @description Where it counts
             * @example panel.example.com
             */
            host_name: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description When somebody last signed in by it
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
            /** @description Whether it is the one of this request */
            current: boolean;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            seen_at: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
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
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
        };
        CreateApplicationBody: {
            /** @example Deploy bot */
            name: string;
            /** @description Whether its tokens have the scope `owner`; false unless sent */
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
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /** @example hV3n0kq2m8Zs6xJ9w1b4 */
            client_secret: string;
        };
        Views: {
            /**
             * @description Unique visits: different visitors each day
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
             * @description Live sites that plan and add-ons allow
             * @example 20
             */
            maxBillable: number;
            /**
             * @description Staging sites that plan and add-ons allow
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
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            timestamp: string;
            /**
             * @description Who did it; null: Stead itself
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
        };
        Account: {
            affiliate: boolean;
            /**
             * @description Accounts that collaborate on sites of this one
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
             * @description Sites that the account owns
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
             * @description Null: no preference
             * @example AMS
             */
            datacenter_code?: string | null;
        };
        Addon: {
            id: number;
            /** @example 1 Site */
            name: string;
            /** @description What one unit brings */
            unitAllocation: number;
            /** @example 1500 */
            priceInCents: number;
        };
        UpdateAddonsBody: {
            addon_id: number;
            /** @description How many the account shall have altogether, not how many more; 0 detaches the add-on */
            quantity: number;
        };
        AttachedAddon: {
            /** @example 1 Site */
            name: string;
            quantity: number;
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
             * @description Entries that fulfil all of them; case does not matter
             * @example [
             *       {
             *         "field": "action",
             *         "operator": "equals",
             *         "value": "site.created"
             *       }
             *     ]
             */
            filters?: components["schemas"]["ActivityFilter"][];
            /** @description Page number, from 1 */
            page?: number;
            /** @description Entries a page: 20 by default, 50 at most */
            per_page?: number;
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
             * @description What visitors get. `live`: the site. `maintenance`: a maintenance page (503). `disabled`: an unavailable page (480). `deploying`, `cloning`, and `failed` (the site could not be created): a setup page (503). `restoring`, `syncing`, `importing`, `moving`, and `closed`: a maintenance page (503), and the dashboard is closed, too.
             * @example live
             * @enum {string}
             */
            status: "live" | "maintenance" | "disabled" | "deploying" | "cloning" | "failed" | "restoring" | "syncing" | "importing" | "moving" | "closed";
            /**
             * @description Why, and what to do; null while `live`
             * @example null
             */
            reason: string | null;
            /**
             * @description The operation that keeps the site closed
             * @example null
             */
            operationId: number | null;
            /**
             * @description Why the site could not be created, and what to do
             * @example null
             */
            deployError: string | null;
            /** @description WordPress runs without the plugins and the theme of the site */
            safeMode: boolean;
        };
        ListedSite: {
            id: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
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
             * @description N/A when not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A when not applicable
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
             * @description Unique in the whole service
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name, with the port when it is not the usual one; no scheme
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
             * @description When absent, the account's default, or where the host of the site does not run that, what it runs; the answer tells
             * @example 8.3
             * @enum {string}
             */
            php_version?: "8.1" | "8.2" | "8.3";
            datacenter_code?: string;
            /** @description False when absent */
            staging?: boolean;
            /** @enum {string} */
            install?: "wordpress" | "woocommerce";
            /** @description False when absent */
            multisite_support?: boolean;
            /** @description may have letters, digits, _ and - only */
            wp_admin_username?: string;
            /** Format: email */
            wp_admin_email?: string;
            /** @description The account that will own the site, when it lets the caller create sites for it */
            account_id?: number;
        };
        Site: {
            id: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
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
             * @description N/A when not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A when not applicable
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
             * @description Unique in the whole service
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name, with the port when it is not the usual one; no scheme
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
            key: "domain" | "name" | "state" | "wordpress_version" | "cms_version" | "php_version" | "datacenter_code";
            /** @example shop */
            value: string;
        };
        SearchSitesBody: {
            filters: components["schemas"]["SiteFilter"][];
            /** @description Page number, from 1 */
            page?: number;
            /** @description Entries a page: 20 by default, 50 at most */
            per_page?: number;
        };
        FoundSite: {
            id: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
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
             * @description N/A when not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A when not applicable
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
             * @description Unique in the whole service
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name, with the port when it is not the usual one; no scheme
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
             * @description ISO 8601, UTC, millisecond precision
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
        /** @description Null before any was issued */
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
             * @description ISO 8601, UTC, millisecond precision
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
             * @description N/A when not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A when not applicable
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
             * @description Unique in the whole service
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name, with the port when it is not the usual one; no scheme
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
             * @description Applied by a background operation. Every answer of a site of another type than `production` asks search engines to leave it out (`X-Robots-Tag`).
             * @enum {string}
             */
            wp_environment_type?: "local" | "development" | "staging" | "production";
        };
        Move: {
            /**
             * @description `native`: php-fpm of the site's host, and MariaDB; `wasm`: PHP in WebAssembly, and an SQLite file in the site's folder
             * @example wasm
             * @enum {string}
             */
            runtime: "native" | "wasm";
            /**
             * @description What it has from then on; default: what it has
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
             * @description ISO 8601, UTC, millisecond precision
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
             * @description N/A when not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A when not applicable
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
             * @description Unique in the whole service
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name, with the port when it is not the usual one; no scheme
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
            /** @description False when absent */
            staging?: boolean;
            /** @description The source's when absent; one that the source's host does not serve cannot be had */
            datacenter_code?: string;
        };
        SafeMode: {
            /** @example true */
            enabled: boolean;
        };
        Zone: {
            id: number;
            /** @example example.com */
            name: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
        };
        DnsRecord: {
            id: number;
            zoneId: number;
            /** @description It leads to a site by its primary domain */
            primary: boolean;
            /** @example A */
            type: string;
            /**
             * @description Before the name of the zone; empty for the zone itself
             * @example www
             */
            name: string;
            /** @example 192.0.2.1 */
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
            /** @description The site that it leads to */
            siteId: number | null;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
        };
        ZoneWithRecords: {
            id: number;
            /** @example example.com */
            name: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            updated: string;
            records: components["schemas"]["DnsRecord"][];
        };
        NewDnsRecord: {
            /**
             * @description One of A, AAAA, CNAME, MX, TXT, SRV, NS, CAA
             * @example A
             */
            type: string;
            /**
             * @description Before the name of the zone, or with it; `@`, empty or absent: the zone itself
             * @example mail
             */
            name?: string;
            /**
             * @description An address (A, AAAA), a host name (CNAME, MX, NS, SRV), a text (TXT), or `0 issue "ca.example"` (CAA). An A record with `site_id` needs none
             * @example 192.0.2.1
             */
            value?: string;
            /** @description MX and SRV need it: 0 to 65535 */
            priority?: number;
            /** @description SRV needs it: 0 to 65535 */
            weight?: number;
            /** @description SRV needs it: 0 to 65535 */
            port?: number;
            /** @description Seconds; when absent that of the other records of this name and type, else 3600 */
            ttl?: number;
            /** @description A records only: the site that this name leads to */
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
             * @description "true": visitors are sent to https; else "false"
             * @example false
             */
            force_ssl?: string;
            /**
             * @description Address of the order at the authority
             * @example https://ca.example/order/7
             */
            acme_certificate_id?: string | null;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            validation_expiration?: string | null;
            /**
             * @description Address of the authorization at the authority
             * @example https://ca.example/authz/7
             */
            authz_uri?: string | null;
            options?: string[];
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            certificate_expiration_date?: string | null;
            /**
             * @description The name that gets no certificate
             * @example null
             */
            broken_record: string | null;
            /**
             * @description Why it gets none, or no newer one
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
        };
        DnssecKey: {
            /** @example 20326 */
            tag: number;
            /**
             * @description `published`: its DS record is waited for; `active`: it signs; `retired`: it is about to go
             * @example active
             */
            state: string;
            /** @description The zone above named it when it was last asked */
            has_ds: boolean;
            /**
             * @description The DS record for the registrar
             * @example 20326 13 2 E06D44B8…
             */
            ds: string;
            /**
             * @description For registrars that ask for the key
             * @example 257 3 13 mdsswUyr…
             */
            dnskey: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
        };
        Dnssec: {
            enabled: boolean;
            /**
             * @description `off`; `signed`: but no DS record leads to it yet; `secure`: resolvers check the signatures; `rolling`: the key is being changed; `leaving`: it is signed until no resolver trusts its key any more
             * @example signed
             */
            status: string;
            /**
             * @description What is to be done next, by whom
             * @example Give the DS record to the registrar of the domain.
             */
            advice: string;
            keys: components["schemas"]["DnssecKey"][];
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            looked_at: string | null;
            /**
             * @description Why the zone above could not be asked
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
             * @description Unix time; null while the mode is off
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
             * @description Sets instead of toggling
             * @example true
             */
            enabled?: boolean;
        };
        SetDefensiveModeBody: {
            /**
             * @description null or absent switches the mode off
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
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /** @example https://plugins.example.com/agency-tools.php */
            path: string;
            /**
             * @description Its file name on the sites
             * @example agency-tools.php
             */
            slug: string;
            /** @description All sites that there were got it */
            existingSites: boolean;
            /** @description New sites get it */
            futureSites: boolean;
        };
        CreateMuPluginBody: {
            /**
             * @description Public https address of one .php file
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
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /** @example https://plugins.example.com/agency-tools.php */
            path: string;
            /**
             * @description Its file name on the sites
             * @example agency-tools.php
             */
            slug: string;
            /** @description All sites that there were got it */
            existing_sites: boolean;
            /** @description New sites get it */
            future_sites: boolean;
        };
        OndemandBackup: {
            /**
             * @description Null until it is completed
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
             * @description What the download has. Null until it is completed. Of very large files, and of files that a sync backed up, null until they were downloaded once
             * @example 73400320
             */
            bytes: string | null;
            /**
             * @description Unix time
             * @example 1769852000
             */
            requested: number;
            /**
             * @description The moment that it shows, UTC
             * @example 2026-01-31 09:30:00
             */
            backupTimestamp: string | null;
            /** @example Ada (ada@example.com) */
            createdBy: string;
            /**
             * @description Time until it is deleted by itself
             * @example 30 days
             */
            removedIn: string;
            /**
             * @description Unix time; earlier when a newer one is completed
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
             * @description Null until it is completed
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
             * @description What the download has. Null until it is completed. Of very large files, and of files that a sync backed up, null until they were downloaded once
             * @example 73400320
             */
            bytes: string | null;
            /**
             * @description Unix time
             * @example 1769852000
             */
            requested: number;
            /**
             * @description The moment that it shows, UTC
             * @example 2026-01-31 09:30:00
             */
            backupTimestamp: string | null;
            /** @example Ada (ada@example.com) */
            createdBy: string;
            /**
             * @description Time until it is deleted by itself
             * @example 30 days
             */
            removedIn: string;
            /**
             * @description Unix time; earlier when a newer one is completed
             * @example 1772444000
             */
            deleteAt: number;
            /**
             * @description Its `id`, as soon as it is completed
             * @example 12
             */
            requestId: number;
        };
        BackupPair: {
            /**
             * @description Of the database, UTC
             * @example 2026-01-31-09-30
             */
            timestamp: string;
            siteId: number;
            databaseBackupId: number;
            /** @description The newest that is no newer than the database */
            filesystemBackupId: number | null;
        };
        Backup: {
            /** @example 12 */
            id: string;
            site_id: number;
            /**
             * @description The moment that it shows, UTC
             * @example 2026-01-31 09:30:00
             */
            backup_timestamp: string;
            /** @enum {string} */
            type: "fs" | "db";
            /** @example Files of 2026-01-31 09:30 (on-demand) */
            title: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            formatted_timestamp: string;
        };
        NewRestore: {
            /**
             * @description File backup of the site
             * @example 12
             */
            filesystem_id?: number;
            /**
             * @description Database backup of the site
             * @example 13
             */
            database_id?: number;
            /** @description Another site of the same account, which is overwritten instead */
            restore_on_site_id?: number;
            /** @description Changes nothing, and reports what a restore would lose */
            dry_run?: boolean;
            /** @description Files and folders of the file backup; the others stay as they are */
            paths?: string[];
            /** @description Tables of the database backup; the others stay as they are */
            tables?: string[];
        };
        RestorePreviewFiles: {
            /** @example 2 */
            count: number;
            /** @example 81920 */
            bytes: number;
            /** @description The first 100, by path */
            first: string[];
        };
        /** @description `written` would come back, or be other than now; `removed` would be gone: they are not in the backup */
        RestorePreviewOfFiles: {
            /**
             * @description ISO 8601, UTC, millisecond precision
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
             * @description Type of the post or order; comment; user
             * @example post
             */
            kind: string;
            /**
             * @description Made since the backup: would be gone
             * @example 3
             */
            new: number;
            /**
             * @description Changed since: would be as they were
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
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            takenAt: string;
            /** @description The largest first, 1,000 at most; of a network those of all its sites */
            counts: components["schemas"]["RestorePreviewCount"][];
            /** @description The newest 100 of what would be gone */
            newest: components["schemas"]["RestorePreviewItem"][];
        };
        RestorePreview: {
            /** @description The site that would be overwritten */
            siteId: number;
            files: components["schemas"]["RestorePreviewOfFiles"] | null;
            database: components["schemas"]["RestorePreviewOfDatabase"] | null;
        };
        /** @description Of a step that moves bytes: how many are done. The total may be a guess until the end */
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
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            startedAt: string | null;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            finishedAt: string | null;
            /** @example null */
            error: string | null;
            /**
             * @description Of a step that is done: what of it was left undone
             * @example null
             */
            warning: string | null;
            bytes: components["schemas"]["StepBytes"] | null;
            /**
             * @description Until the step is done; null when that cannot be told
             * @example null
             */
            secondsLeft: number | null;
        };
        SiteResult: {
            siteId: number;
            /**
             * @description What of the site, where the work was about several things of it: a plugin
             * @example null
             */
            subject: string | null;
            /**
             * @description Such as added, updated, unchanged, removed, absent, skipped, failed
             * @example added
             */
            outcome: string;
            /** @example null */
            message: string | null;
            /**
             * @description The operation of that site that does the rest
             * @example null
             */
            operationId: number | null;
        };
        OperationAction: {
            /**
             * @example undo
             * @enum {string}
             */
            action: "cancel" | "retry" | "undo";
            allowed: boolean;
            /**
             * @description What it would be refused with
             * @example null
             */
            reason: string | null;
        };
        Operation: {
            id: number;
            /**
             * @description Such as site.provision
             * @example site.provision
             */
            type: string;
            siteId: number | null;
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
            /** @description Of work on many sites, or many things of a site: what was done with each. Only where one operation is read by its id. */
            results?: components["schemas"]["SiteResult"][];
            /** @description What can be done with it as it is, and whether you may. Only where operations are read, not where one is followed or was changed. */
            actions?: components["schemas"]["OperationAction"][];
            attempts: number;
            /**
             * @description Why it failed; of a queued one: why its last attempt did
             * @example null
             */
            error: string | null;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            startedAt: string | null;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            finishedAt: string | null;
        };
        NewSync: {
            /**
             * @description The source, which stays as it is
             * @example 1
             */
            from_site_id: number;
            /**
             * @description The destination, which is overwritten
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
             * @description Sync media uploads; for them to be in the media library, sync the database, too
             * @example true
             */
            uploads_directory?: boolean;
            /**
             * @description Sync what else is in wp-content
             * @example false
             */
            wp_content_directory?: boolean;
            /**
             * @description Sync the web root without wp-content; wp-config.php stays that of the destination
             * @example false
             */
            root_directory?: boolean;
            /**
             * @description Do not ask for the front page of the destination afterwards
             * @example false
             */
            skip_http_check?: boolean;
            /**
             * @description Overwrite the whole database of the destination
             * @example true
             */
            database?: boolean;
            /**
             * @description The destination's afterwards; it keeps its own when absent
             * @enum {string}
             */
            wp_environment_type?: "local" | "development" | "staging" | "production";
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
             * @description Of the whole file
             * @example 81920000
             */
            bytes: number;
            /**
             * @description Where the next part begins
             * @example 8388608
             */
            received: number;
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
             * @description Prefix of the tables, which the site takes over
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
             * @description Why it stays behind; `host`: it belongs to the old host; `platform`: Stead adds its own
             * @enum {string}
             */
            reason: "drop-in" | "cache" | "host" | "backup" | "platform";
        };
        ImportPlan: {
            /**
             * @description What made the archive; `files`: files and a dump of the database
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
            /** @description Must-use plugins that come along, below wp-content/mu-plugins */
            mustUsePlugins: string[];
            /** @description What stays behind unless the start says otherwise */
            leftOut: components["schemas"]["ImportLeftOut"][];
            warnings: string[];
            /** @description While there is one, the import cannot start */
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
             * @description How much of the words of the two pages is the same, in percent; null where the old site does not answer
             * @example 98
             */
            sameText: number | null;
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
             * @description `uploading`: its files are not complete yet; `inspecting`; `ready` with its `plan`; `importing`; `imported`; `failed`: it could not be inspected
             * @enum {string}
             */
            state: "uploading" | "inspecting" | "ready" | "importing" | "imported" | "failed";
            /** @description Addresses of its files, or the names of those that are uploaded */
            sources: string[];
            /** @description Files that are uploaded. Empty when Stead fetches them */
            uploads: components["schemas"]["ImportUpload"][];
            plan: components["schemas"]["ImportPlan"] | null;
            /** @description The front page and five others, after the import */
            comparison: components["schemas"]["ImportComparedPage"][] | null;
            /** @description What to do until visitors come to the new site, in order */
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
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
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
            /**
             * @description Start without a stop when the plan has no blockers
             * @example false
             */
            start?: boolean;
        };
        ImportStart: {
            /** @description Files and folders that stay behind, in place of `leftOut` of the plan. Drop-ins of the old host stay behind in any case */
            leave_out?: string[];
        };
        CollaboratorWithRoles: {
            id: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
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
             * @description None when absent
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
             * @description None when absent
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
             * @description False when absent
             * @example false
             */
            delete_wp_user?: boolean;
        };
        Collaborator: {
            id: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
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
             * @description None when absent
             * @example [
             *       "manage_notes",
             *       "wp_access"
             *     ]
             */
            roles?: ("clone_site" | "convert_site" | "create_collaborator" | "delete_collaborator" | "delete_site" | "disable_site" | "download_backups" | "enable_site" | "execute_bulk_operations" | "manage_dns" | "manage_git" | "manage_notes" | "manage_performance" | "db_admin_access" | "plugin_management_access" | "reset_collaborator_password" | "restore_site" | "sftp_access" | "update_site_custom_name" | "update_site_php_version" | "update_site_cms_version" | "wp_access")[];
        };
        SiteRight: {
            /**
             * @description Its `operationId` in this description
             * @example updateSite
             */
            operation: string;
            /**
             * @description Of its body: about requests that send this field
             * @example php_version
             */
            field: string | null;
            allowed: boolean;
            /**
             * @description What the operation would be refused with
             * @example You need the role update_site_php_version on this site for this operation.
             */
            reason: string | null;
        };
        TagNames: {
            /** @description Tags that do not exist yet are made; those that the site has already stay. None: nothing changes */
            tag_names: string[];
        };
        TagIds: {
            /**
             * @description Ids of tags that the site does not have are passed over. None: nothing changes
             * @example [
             *       1
             *     ]
             */
            tag_ids: number[];
        };
        SiteWithAddresses: {
            id: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
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
             * @description N/A when not applicable
             * @example AMS
             */
            datacenterCode: string;
            /**
             * @description N/A when not applicable
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
             * @description Unique in the whole service
             * @example my-first-site
             */
            name: string;
            /**
             * @example live
             * @enum {string}
             */
            state: "deploying" | "cloning" | "live" | "disabled";
            /**
             * @description Host name, with the port when it is not the usual one; no scheme
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
             * @description Ids of tags that the site does not have are passed over. None: nothing changes
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
             * @description Slug; of a drop-in its file
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
             * @description active, active-network (on all sites of a network), inactive, must-use or dropin
             * @example active
             */
            status: string;
            /**
             * @description As WordPress knows of it: none, available, or version higher than expected
             * @example available
             */
            update: string;
            /** @example 5.3 */
            version: string;
            /**
             * @description The release that is available
             * @example 5.4
             */
            update_version: string | null;
        };
        PluginRelease: {
            /** @example akismet */
            path: string;
            /**
             * @description The latest when absent
             * @example 5.3
             */
            version?: string;
        };
        PluginReleases: {
            plugins: components["schemas"]["PluginRelease"][];
        };
        /** @description `path` is the slug */
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
             * @description What to do, and why
             * @example This shop uses the embedded database. WooCommerce is made for MariaDB, and the host of this site has it. To move the site, send PUT /v1/sites/{id}/runtime with {"runtime":"native","php_version":"8.3"}.
             */
            message: string;
            /**
             * @description The PHP version that the site would have after the move: its own, where that runs natively
             * @example 8.3
             * @enum {string}
             */
            phpVersion: "8.1" | "8.2" | "8.3";
        };
        CmsVersion: {
            /**
             * @description Absent: stable or beta, whichever the site has not
             * @example latest
             * @enum {string}
             */
            version?: "latest";
        };
        ListedDomain: {
            id: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /** @description The site is to be reached by it, and its other domains lead there */
            primary: boolean;
            /**
             * @description Before the name of the zone; null for the zone itself
             * @example www
             */
            name: string | null;
            /** @description It leads here, and the edge answers for it */
            healthy: boolean;
            /** @description Its name leads to the addresses of the edge, and to no others */
            dnsConfirmed: boolean;
            /** @description The edge knows it */
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
        };
        NewDomain: {
            /**
             * @description A host name
             * @example www.example.com
             */
            name: string;
            /** @description One entry for each address, with the id of its record */
            separate_records?: boolean;
        };
        Domain: {
            id: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /** @description The site is to be reached by it, and its other domains lead there */
            primary: boolean;
            /**
             * @description Before the name of the zone; null for the zone itself
             * @example www
             */
            name: string | null;
            /** @description It leads here, and the edge answers for it */
            healthy: boolean;
            /** @description Its name leads to the addresses of the edge, and to no others */
            dnsConfirmed: boolean;
            /** @description The edge knows it */
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
            /** @description One entry for each address, with the id of its record */
            separate_records?: boolean;
        };
        SftpUser: {
            id: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            accessed: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
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
            /** @description Of the account that owns the site */
            owner: boolean;
            /** @example owner@example.com */
            email: string;
        };
        SftpKey: {
            id: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description The comment of the key
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
             * @description A line as in `~/.ssh/id_ed25519.pub`: ssh-ed25519, ecdsa-sha2-nistp…, or ssh-rsa of 2,048 bits at least
             * @example ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBxSxnVbFVFF9zWQ6Ky5hLYDZ1GlDbrnAjGYgdzvCT8P me@laptop
             */
            public_key: string;
        };
        CreateOneTimeLoginBody: {
            /**
             * @description Who is logged in
             * @example colleague@example.com
             */
            email: string;
            /**
             * @description The header `User-Agent` of the browser that will open the link
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
             * @description Who changed it last
             * @example owner@example.com
             */
            editor: string;
            /** @example Opening hours */
            subject: string;
            /**
             * @description May contain HTML: as it was given
             * @example <p>They change in May.</p>
             */
            body: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
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
             * @description How the edge cache took part; empty: not at all
             * @example HIT
             */
            cached: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            date: string;
            /**
             * @description `h2` over HTTP/2, else empty
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
             * @description As the visitor sent it, believed or not
             * @example
             */
            http_x_forwarded_for: string;
            /**
             * @description Who made the body: `php`, `static` or `edge`
             * @example php
             */
            renderer: string;
            /**
             * @description `OK`, or empty when the visitor did not get all of it
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
             * @description `access`; `notice` where `request_url` says how many requests are left out
             * @example access
             */
            type: string;
            /** @example 192.0.2.7 */
            user_ip: string;
        };
        ServerLog: {
            /** @description Not counted */
            total_results: null;
            logs: components["schemas"]["ServerLogEntry"][];
            /**
             * @description Send it to get the next (older) page
             * @example nWq0c1xkZ3J5cGg
             */
            scroll_id: string;
        };
        PhpLogEntry: {
            /** @example Undefined variable $title */
            message: string;
            /**
             * @description PHP's own word; `User`: written by the site's code
             * @example Warning
             */
            severity: string;
            /**
             * @description Whose code it is: `plugin`, `mu-plugin`, `theme`, `core`, or empty
             * @example plugin
             */
            kind: string;
            /**
             * @description Name of the plugin or theme
             * @example example-plugin
             */
            name: string;
            /**
             * @description Path from the web root; empty when unknown
             * @example wp-content/plugins/example-plugin/example-plugin.php
             */
            file: string;
            /**
             * @description -1 when unknown
             * @example 12
             */
            line: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            timestamp: string;
            /** @description The site */
            atomic_site_id: number;
        };
        PhpLog: {
            /** @description Not counted */
            total_results: null;
            logs: components["schemas"]["PhpLogEntry"][];
            /**
             * @description Send it to get the next (older) page
             * @example nWq0c1xkZ3J5cGg
             */
            scroll_id: string;
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
            /** @description The site */
            id: number;
            /** @example 1458176 */
            databaseUsageBytes: number;
            /**
             * @description The site's own files; WordPress itself is shared
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
        DesktopReport: {
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description Path of the picture of the page, which needs the same token
             * @example /v1/sites/1/reports/…
             */
            thumbnail_location: string | null;
            /**
             * @description Where the visit ended
             * @example http://my-first-site.example.com/
             */
            final_url: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            performance_score: number | null;
            /**
             * @description Of the category
             * @example Performance
             */
            performance_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            accessibility_score: number | null;
            /**
             * @description Of the category
             * @example Performance
             */
            accessibility_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            best_practices_score: number | null;
            /**
             * @description Of the category
             * @example Performance
             */
            best_practices_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            seo_score: number | null;
            /**
             * @description Of the category
             * @example Performance
             */
            seo_title: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            first_contentful_paint_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            first_contentful_paint_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            first_contentful_paint_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            first_contentful_paint_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            first_contentful_paint_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            first_contentful_paint_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            interactive_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            interactive_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            interactive_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            interactive_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            interactive_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            interactive_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            speed_index_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            speed_index_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            speed_index_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            speed_index_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            speed_index_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            speed_index_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            total_blocking_time_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            total_blocking_time_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            total_blocking_time_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            total_blocking_time_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            total_blocking_time_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            total_blocking_time_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            largest_contentful_paint_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            largest_contentful_paint_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            largest_contentful_paint_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            largest_contentful_paint_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            largest_contentful_paint_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            largest_contentful_paint_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            cumulative_layout_shift_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            cumulative_layout_shift_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            cumulative_layout_shift_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            cumulative_layout_shift_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            cumulative_layout_shift_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            cumulative_layout_shift_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            server_response_time_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            server_response_time_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            server_response_time_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            server_response_time_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            server_response_time_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            server_response_time_numeric_unit: string | null;
            /**
             * @description Of Lighthouse
             * @example 13.5.0
             */
            lighthouse_version: string | null;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            fetch_time: string | null;
        };
        MobileReport: {
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description Path of the picture of the page, which needs the same token
             * @example /v1/sites/1/reports/…
             */
            thumbnail_location: string | null;
            /**
             * @description Where the visit ended
             * @example http://my-first-site.example.com/
             */
            final_url: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            performance_score: number | null;
            /**
             * @description Of the category
             * @example Performance
             */
            performance_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            accessibility_score: number | null;
            /**
             * @description Of the category
             * @example Performance
             */
            accessibility_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            best_practices_score: number | null;
            /**
             * @description Of the category
             * @example Performance
             */
            best_practices_title: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            seo_score: number | null;
            /**
             * @description Of the category
             * @example Performance
             */
            seo_title: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            first_contentful_paint_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            first_contentful_paint_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            first_contentful_paint_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            first_contentful_paint_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            first_contentful_paint_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            first_contentful_paint_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            interactive_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            interactive_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            interactive_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            interactive_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            interactive_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            interactive_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            speed_index_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            speed_index_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            speed_index_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            speed_index_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            speed_index_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            speed_index_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            total_blocking_time_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            total_blocking_time_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            total_blocking_time_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            total_blocking_time_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            total_blocking_time_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            total_blocking_time_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            largest_contentful_paint_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            largest_contentful_paint_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            largest_contentful_paint_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            largest_contentful_paint_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            largest_contentful_paint_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            largest_contentful_paint_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            cumulative_layout_shift_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            cumulative_layout_shift_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            cumulative_layout_shift_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            cumulative_layout_shift_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            cumulative_layout_shift_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            cumulative_layout_shift_numeric_unit: string | null;
            /**
             * @description Of the audit
             * @example Speed Index
             */
            server_response_time_title: string | null;
            /**
             * @description What is measured
             * @example How quickly the page is shown.
             */
            server_response_time_description: string | null;
            /**
             * @description 0 to 1
             * @example 0.98
             */
            server_response_time_score: number | null;
            /**
             * @description For people
             * @example 1.2 s
             */
            server_response_time_display_value: string | null;
            /**
             * @description The figure
             * @example 1234.5
             */
            server_response_time_numeric_value: string | null;
            /**
             * @description Its unit
             * @example millisecond
             */
            server_response_time_numeric_unit: string | null;
            /**
             * @description Of Lighthouse
             * @example 13.5.0
             */
            lighthouse_version: string | null;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            fetch_time: string | null;
        };
        PerformanceReport: {
            desktop_report: components["schemas"]["DesktopReport"];
            mobile_report: components["schemas"]["MobileReport"];
        };
        Webhook: {
            id: number;
            /** @example https://hooks.example.com/stead */
            url: string;
            /** @example Deploy bot */
            description: string;
            /**
             * @description Names of events; null: all, also those that later versions bring
             * @example [
             *       "site_created"
             *     ]
             */
            event_types: string[] | null;
            /**
             * @description Sites of your account; null: all, and whatever is of no site
             * @example null
             */
            site_ids: number[] | null;
            /** @example true */
            enabled: boolean;
            /**
             * @description Why Stead has disabled it; null: it has not
             * @example null
             */
            disabled_reason: string | null;
            /**
             * @description Nothing has arrived since then; null: all is well
             * @example null
             */
            failing_since: string | null;
            /**
             * @description Until then the secret before signs beside the new one
             * @example null
             */
            old_secret_until: string | null;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            updated_at: string;
        };
        CreateWebhookBody: {
            /**
             * @description Public http or https address that takes POST
             * @example https://hooks.example.com/stead
             */
            url: string;
            /** @example Deploy bot */
            description?: string;
            /**
             * @description Names of events; null: all, also those that later versions bring
             * @example [
             *       "site_created",
             *       "site_deleted"
             *     ]
             */
            event_types?: string[] | null;
            /**
             * @description Sites of your account; null: all, and whatever is of no site
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
             * @description Names of events; null: all, also those that later versions bring
             * @example [
             *       "site_created"
             *     ]
             */
            event_types: string[] | null;
            /**
             * @description Sites of your account; null: all, and whatever is of no site
             * @example null
             */
            site_ids: number[] | null;
            /** @example true */
            enabled: boolean;
            /**
             * @description Why Stead has disabled it; null: it has not
             * @example null
             */
            disabled_reason: string | null;
            /**
             * @description Nothing has arrived since then; null: all is well
             * @example null
             */
            failing_since: string | null;
            /**
             * @description Until then the secret before signs beside the new one
             * @example null
             */
            old_secret_until: string | null;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description What signatures are verified with. It is shown this once
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string;
        };
        UpdateWebhookBody: {
            /**
             * @description Public http or https address that takes POST
             * @example https://hooks.example.com/stead
             */
            url?: string;
            /** @example Deploy bot */
            description?: string;
            /**
             * @description Names of events; null: all, also those that later versions bring
             * @example [
             *       "site_created",
             *       "site_deleted"
             *     ]
             */
            event_types?: string[] | null;
            /**
             * @description Sites of your account; null: all, and whatever is of no site
             * @example null
             */
            site_ids?: number[] | null;
            /** @example true */
            enabled?: boolean;
            /**
             * @description Makes a new secret; the old one signs beside it for 24 hours
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
             * @description Names of events; null: all, also those that later versions bring
             * @example [
             *       "site_created"
             *     ]
             */
            event_types: string[] | null;
            /**
             * @description Sites of your account; null: all, and whatever is of no site
             * @example null
             */
            site_ids: number[] | null;
            /** @example true */
            enabled: boolean;
            /**
             * @description Why Stead has disabled it; null: it has not
             * @example null
             */
            disabled_reason: string | null;
            /**
             * @description Nothing has arrived since then; null: all is well
             * @example null
             */
            failing_since: string | null;
            /**
             * @description Until then the secret before signs beside the new one
             * @example null
             */
            old_secret_until: string | null;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description The new one, when it was asked for
             * @example null
             */
            secret: string | null;
        };
        WebhookAttempt: {
            /** @example 1 */
            number: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            started_at: string;
            /** @example 84 */
            duration_ms: number;
            /**
             * @description HTTP status; null: there was no answer
             * @example 204
             */
            status: number | null;
            /**
             * @description How the answer begins
             * @example
             */
            answer: string;
            /**
             * @description Why it was no success
             * @example null
             */
            error: string | null;
        };
        WebhookDelivery: {
            id: number;
            /**
             * @description `webhook-id`, and the id of the event in `GET /v1/events`: the same at each attempt
             * @example evt_42_4f1d6a0f9be27c35
             */
            event_id: string;
            /** @example site_created */
            type: string;
            site_id: number | null;
            /**
             * @description `waiting`: an earlier event of the same site has not arrived yet
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
             * @description ISO 8601, UTC, millisecond precision
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
             * @description ISO 8601, UTC, millisecond precision
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
        HostHealth: {
            id: number;
            /** @example host-1 */
            name: string;
            /** @description How many it has, those in the trash apart */
            sites: number;
            /**
             * @description How many it may have
             * @example 100
             */
            max_sites: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            seen_at: string | null;
            /** @description Whether it was heard of within a minute */
            answers: boolean;
        };
        OperationsInState: {
            /** @example queued */
            state: string;
            /** @example 3 */
            count: number;
        };
        QueueHealth: {
            /**
             * @description Who does the work: hosts, or the control
             * @example host
             */
            runner: string;
            /** @description What could be done by now and is not begun */
            due: number;
            /** @example 0 */
            oldest_seconds: number;
        };
        WebhooksHealth: {
            /** @description Events that could be sent by now */
            due: number;
            /** @example 0 */
            oldest_seconds: number;
            failing: number;
            disabled: number;
        };
        CertificatesHealth: {
            /** @description Names for which the last try failed */
            failing: number;
            /** @description Certificates that have ended, and were not replaced */
            ended: number;
            /**
             * @description ISO 8601, UTC, millisecond precision
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
             * @description Name of the site that has it
             * @example my-first-site
             */
            site: string | null;
            /** @example customer@example.com */
            account: string;
        };
        InstallationNames: {
            /**
             * @description Registrable domain that the panel has in common with sites of customers; null: none
             * @example null
             */
            shared_domain: string | null;
            /** @description Names of the installation that an account got before a setting reserved them; 100 at most */
            taken: components["schemas"]["TakenName"][];
        };
        BudgetHealth: {
            /** @example request_bodies */
            name: string;
            /** @description Bytes, or a number of things */
            used: number;
            /** @example 67108864 */
            limit: number;
            /** @description Since the process began */
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
        /** @description The figures of `/metrics` that a person looks at: up to ten seconds old */
        InstallationHealth: {
            /** @example 0.1.0 */
            version: string | null;
            sites: components["schemas"]["SitesInState"][];
            hosts: components["schemas"]["HostHealth"][];
            /** @description What is queued and running, and what has ended within the last hour */
            operations: components["schemas"]["OperationsInState"][];
            queues: components["schemas"]["QueueHealth"][];
            webhooks: components["schemas"]["WebhooksHealth"];
            certificates: components["schemas"]["CertificatesHealth"];
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            records_backed_up: string | null;
            names: components["schemas"]["InstallationNames"];
            processes: components["schemas"]["ProcessHealth"][];
        };
        Installation: {
            /** @description Whether your account operates it */
            operator: boolean;
            health: components["schemas"]["InstallationHealth"] | null;
        };
        InstallationCheck: {
            /**
             * @description What was checked
             * @enum {string}
             */
            area: "settings" | "disk" | "databases" | "clock" | "ports" | "names" | "dns" | "certificates" | "storage" | "mail" | "php" | "limits";
            /**
             * @description `problem`: something does not work. `warning`: it works, and you should change it. `skipped`: it could not be checked now
             * @enum {string}
             */
            state: "ok" | "warning" | "problem" | "skipped";
            /**
             * @description What was found
             * @example 203.0.113.7:443 is in use by another program.
             */
            text: string;
            /**
             * @description What to do; null where nothing is wrong
             * @example Choose another with STEAD_EDGE_LISTEN.
             */
            remedy: string | null;
        };
        InstallationChecks: {
            /**
             * @description ISO 8601, UTC, millisecond precision
             * @example 2026-01-31T09:30:00.000Z
             */
            checked_at: string | null;
            checks: components["schemas"]["InstallationCheck"][] | null;
        };
        IssueTokenBody: {
            /**
             * @description Always client_credentials
             * @example client_credentials
             */
            grant_type?: string;
            /** @example your-client-id */
            client_id?: string;
            /** @example your-client-secret */
            client_secret?: string;
            /** @description May be sent and changes nothing: a token has the scopes of its application */
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
             * @description The scopes, joined by a space
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
             * @description Avatar address
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
            /** @example Unknown client, or wrong client secret. */
            error_description: string;
        };
        RevokeTokenBody: {
            /** @example mF_9.B5f-4.1JqM */
            token?: string;
            /** @description May be sent and changes nothing: there is one kind of tokens */
            token_type_hint?: string;
            /** @example your-client-id */
            client_id?: string;
            /** @example your-client-secret */
            client_secret?: string;
        };
    };
    responses: never;
    parameters: {
        /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
        IdempotencyKey: string;
        /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
    listAccountActivity: {
        parameters: {
            query?: never;
            header?: {
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Answer one page, with `page`, instead of the full list */
                paginate?: boolean;
                /** @description Adds `status` to each site, as `GET /v1/sites/{id}/status` returns it */
                include?: "status";
                /** @description Page number, from 1 */
                page?: number;
                /** @description Entries a page: 20 by default, 50 at most */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                 *       ]
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                        data: components["schemas"]["ZoneWithRecords"];
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Page number, from 1 */
                page?: number;
                /** @description Entries a page: 20 by default, 50 at most */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
            /** @description The part that `Range` asks for */
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
                        data: components["schemas"]["Backup"][];
                        errors: null;
                    };
                };
            };
        };
    };
    listDatabaseBackups: {
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
            /** @description The part that `Range` asks for */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
    startImport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @example {} */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description False when absent */
                delete_wp_user?: boolean;
            };
            header?: {
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Page number, from 1 */
                page?: number;
                /** @description Entries a page: 20 by default, 50 at most */
                per_page?: number;
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
    updateCmsVersion: {
        parameters: {
            query?: never;
            header?: {
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description One entry for each address, with the id of its record */
                separate_records?: boolean;
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
                /** @description One entry for each address, with the id of its record */
                separate_records?: boolean;
            };
            header?: {
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description One entry for each address, with the id of its record */
                separate_records?: boolean;
            };
            header?: {
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 1 */
                site_id: number;
                /**
                 * @description -1: the staging address
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
    listSftpUsers: {
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Page number, from 1 */
                page?: number;
                /** @description Entries a page: 20 by default, 50 at most */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description A status from 100 to 599, or several with commas between them */
                status?: number | string;
                request_type?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
                /** @description Address of the visitor */
                user_ip?: string;
                /** @description `scroll_id` of an earlier page: the page after it. Filters sent with it apply to this page */
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
                status?: "User" | "Warning" | "Deprecated" | "Fatal error";
                /** @description `scroll_id` of an earlier page: the page after it. Filters sent with it apply to this page */
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
    getSiteStatistics: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description How many, today included: 30 when absent */
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
    getLatestPerformanceReport: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
    orderPerformanceReport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
    listOperations: {
        parameters: {
            query?: {
                site_id?: number;
                state?: "queued" | "running" | "succeeded" | "failed" | "canceled";
                type?: string;
                /** @description Page number, from 1 */
                page?: number;
                /** @description Entries a page: 20 by default, 50 at most */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Page number, from 1 */
                page?: number;
                /** @description Entries a page: 20 by default, 50 at most */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Page number, from 1 */
                page?: number;
                /** @description Entries a page: 20 by default, 50 at most */
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
                /** @description Kept for 24 h: the same request with the same key is done once and answered alike. */
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
                /** @description Id of an event: those that came behind it */
                after?: string;
                /** @description Id of an event: those that came before it */
                before?: string;
                /** @description Only of this type; several with commas */
                type?: string;
                /** @description Only of this site */
                site_id?: number;
                /** @description At most so many: 20 by default, 50 at most */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
                /** @description ETag of what the client has; the answer is 304 while it is current. */
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
    uploadImport: {
        parameters: {
            query: {
                /**
                 * @description Where the part begins in the file
                 * @example 0
                 */
                offset: number;
                /** @description Of the part, in hex. Stead refuses a part that arrives otherwise */
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
        /** @description The bytes, as they are */
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
            /** @description No body */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
