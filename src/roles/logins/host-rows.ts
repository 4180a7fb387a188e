/*
 * What the login of a host may see and change, row by row, as conditions of PostgreSQL, and the functions that they
 * need. A function knows the host from the login of the connection (`session_user`), which a connection cannot change.
 * Functions run with the rights of their owner. So their search path is fixed, and names of tables contain the schema:
 * a login may create temporary tables.
 */

/** Operations on the host that a site moves to. Until the end, the site is on another host. */
const MOVES = ['site.receive_files', 'site.receive', 'site.remove_copy']
/** Operations on one host for the sites of an account on all hosts. */
const FOR_ACCOUNTS = ['mu_plugin.install', 'mu_plugin.update', 'mu_plugin.remove', 'mu_plugin.bring']
/** Operations that read backups of another site, the `sourceId` of their input. */
const READERS = ['site.clone', 'site.restore', 'site.preview_restore', 'site.sync']

/**
 * Operations that a host requests for itself. None of them has a secret, or reads backups of another site, because a
 * host that was taken over chooses the input.
 */
export const requestedForHosts: readonly string[] = [
  ...['site.configure', 'site.purge', 'site.remove_copy', 'statistics.measure_site', 'plugin.list'],
  ...['cms.look_for_releases', 'cms.look_for_releases_nightly', 'backup.measure', 'sftp.disconnect'],
  ...['collaborator.sync_wp_user', 'extension_license.write', 'mu_plugin.bring_to_site'],
]
/** Operations that a host requests of controls for a site of its own, beside mails. */
export const requestedOfControls: readonly string[] = ['backups.forget_site']

const texts = (values: readonly string[]): string => `(${values.map((value) => `'${value}'`).join(', ')})`
const ofInput = (name: string): string => `(input::json ->> '${name}')::bigint`

/** What hosts of an operation may do ends with the transaction that ends the operation. */
const RECENT_MS = 600_000
/** A host cannot use the numbers up. Restored records are at most some days older than its data folder. */
const MOST_RAISED = 100_000

export const ownHost = '(select stead_own_host())'
export const ownSite = 'stead_own_site(site_id)'
export const seenSite = 'stead_seen_site(site_id)'
export const ownAccount = 'stead_own_account(account_id)'

const isMove = `(type in ${texts(MOVES)} and stead_own_site(${ofInput('siteId')}))`

/** Rows of `operations`. */
export const operationRows = {
  seen: `host_id = ${ownHost} or stead_own_site(site_id) or stead_seen_operation(id, type, account_id, input)`,
  changed: `host_id = ${ownHost} or ${isMove}`,
  /** A move takes along what is queued for its site. */
  result: `host_id = ${ownHost} or ${isMove} or (stead_own_site(site_id) and ${ofInput('siteId')} = site_id)`,
  inserted: `case runner
    when 'host' then (host_id = ${ownHost} and type in ${texts(requestedForHosts)} and (site_id is null or stead_own_site(site_id)))
      or ${isMove} or (type = 'mu_plugin.bring' and ${ownAccount})
    else (type in ${texts(requestedOfControls)} and stead_own_site(${ofInput('siteId')}))
      or (type = 'mail.send' and stead_may_mail(input::json ->> 'to')) end`,
} as const

/** Rows that belong to an operation of the host, or of its moves. */
export const ownOperation = 'stead_own_operation(operation_id)'

const define = (head: string, body: string, volatility = 'stable'): string =>
  `create or replace function ${head} language plpgsql ${volatility} security definer
    set search_path = pg_catalog, pg_temp as $$ begin ${body} end $$`

/**
 * Returns SQL for whether the host runs an operation with a condition. It still does in the transaction that ends it.
 * @param host SQL for the id of the host
 */
const runs = (operations: string, host: string, condition: string): string =>
  `(exists (select from ${operations} o where o.runner = 'host' and o.host_id = ${host} and o.state = 'running'
      and ${condition})
    or exists (select from ${operations} o where o.finished_at > extract(epoch from now()) * 1000 - ${RECENT_MS}
      and o.xmin = pg_current_xact_id_if_assigned()::xid and o.runner = 'host' and o.host_id = ${host} and ${condition}))`

/** Returns the name of a table or function in the schema, quoted. */
type NameOf = (name: string) => string

/** @param of see {@link NameOf} */
export function hostFunctions(of: NameOf): readonly string[] {
  const host = `${of('stead_own_host')}()`
  const own = (condition: string) => runs(of('operations'), host, condition)
  return [
    ...whoIsIt(of),
    ...sitesOf(of, host, own),
    ...accountsOf(of, host, own),
    ...operationsOf(of, host),
    raiseIds(of, host),
  ]
}

const whoIsIt = (of: NameOf): readonly string[] => [
  // Also of a host that is lost, which must learn that.
  define(
    `${of('stead_own_name')}() returns text`,
    `return (select name from ${of('role_logins')} where login = session_user and role = 'host');`,
  ),
  define(
    `${of('stead_own_host')}() returns bigint`,
    `return (select host.id from ${of('role_logins')} own join ${of('hosts')} host on host.name = own.name
      where own.login = session_user and own.role = 'host' and host.state in ('active', 'cordoned'));`,
  ),
]

type Runs = (condition: string) => string

function sitesOf(of: NameOf, host: string, own: Runs): readonly string[] {
  // In one statement, because each row of a site needs it.
  const isThere = `exists (select from ${of('sites')} s join ${of('hosts')} h on h.id = s.host_id
    join ${of('role_logins')} l on l.role = 'host' and l.name = h.name
    where s.id = site and l.login = session_user and h.state in ('active', 'cordoned'))`
  return [
    // The host has it, or an operation of the host is bound to it.
    define(
      `${of('stead_own_site')}(site bigint) returns boolean`,
      `if site is null then return false; end if;
      if ${isThere} then return true; end if;
      return exists (select from ${of('operations')} where site_id = site and state = 'queued' and host_id = ${host})
        or ${own('o.site_id = site')};`,
    ),
    // Or an operation of the host reads it.
    define(
      `${of('stead_seen_site')}(site bigint) returns boolean`,
      `if ${isThere} then return true; end if;
      return ${of('stead_own_site')}(site) or ${own(`case
          when o.type in ${texts(MOVES)} then (o.input::json ->> 'siteId')::bigint = site
          when o.type in ${texts(READERS)} then (o.input::json ->> 'sourceId')::bigint = site
          when o.type in ${texts(FOR_ACCOUNTS)} then o.account_id = (select account_id from ${of('sites')} where id = site)
          else false end`)};`,
    ),
    // A site of this host moves to the other one.
    define(
      `${of('stead_moves_to')}(other bigint) returns boolean`,
      `return ${own(`o.type in ('site.relocate', 'site.relocate_deleted') and (o.input::json ->> 'toHostId')::bigint = other`)};`,
    ),
  ]
}

const accountsOf = (of: NameOf, host: string, own: Runs): readonly string[] => [
  // It has a site on the host, or collaborates on one, or has asked for what runs there. The first one operates Stead.
  define(
    `${of('stead_own_account')}(account bigint) returns boolean`,
    `return exists (select from ${of('site_access')} a join ${of('sites')} s on s.id = a.site_id
        where a.account_id = account and s.host_id = ${host})
      or (account = (select min(id) from ${of('accounts')}) and ${host} is not null)
      or ${own('(o.account_id = account or o.asked_by_id = account)')};`,
  ),
  define(
    `${of('stead_may_mail')}(address text) returns boolean`,
    `return exists (select from ${of('accounts')} where email = address and ${of('stead_own_account')}(id));`,
  ),
]

const operationsOf = (of: NameOf, host: string): readonly string[] => [
  // The last one that this connection has requested.
  define(
    `${of('stead_last_operation')}() returns bigint`,
    `return currval('${of('operations_id_seq')}');
    exception when object_not_in_prerequisite_state then return null;`,
  ),
  define(
    `${of('stead_seen_operation')}(id bigint, type text, account bigint, input text) returns boolean`,
    `return (type in ${texts(MOVES)} and ${of('stead_own_site')}((input::json ->> 'siteId')::bigint))
      or (type in ${texts(FOR_ACCOUNTS)} and ${of('stead_own_account')}(account))
      or exists (select from ${of('operation_waits')} w join ${of('operations')} o on o.id = w.operation_id
        where w.for_id = stead_seen_operation.id and o.host_id = ${host} and o.finished_at is null)
      or id = ${of('stead_last_operation')}();`,
  ),
  define(
    `${of('stead_own_operation')}(operation bigint) returns boolean`,
    `return exists (select from ${of('operations')} o where o.id = operation and (o.host_id = ${host}
        or (o.type in ${texts(MOVES)} and ${of('stead_own_site')}((o.input::json ->> 'siteId')::bigint))))
      or operation = ${of('stead_last_operation')}();`,
  ),
]

/** No number is used twice, also after the records were restored. */
function raiseIds(of: NameOf, host: string): string {
  const last = (table: string) => `(select last_value from ${of(`${table}_id_seq`)})`
  const raise = (table: string) => `if name = '${table}' then
      if last > ${last(table)} + ${MOST_RAISED} then raise exception 'this number is too high'; end if;
      lock table ${of(table)} in share row exclusive mode;
      perform setval('${of(`${table}_id_seq`)}', greatest(last, ${last(table)}));
    end if;`
  return define(
    `${of('stead_raise_ids')}(name text, last bigint) returns void`,
    `if ${host} is null then return; end if; ${raise('site_homes')} ${raise('sites')}`,
    'volatile',
  )
}
