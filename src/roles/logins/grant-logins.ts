import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { type Database, isPostgres, type Tx, withoutTimeLimit } from '../../platform/db/database.ts'
import { existingGroups, type LoginRole } from '../../platform/db/logins/logins.store.ts'
import { hostFunctions } from './host-rows.ts'
import { hostRights, hostSequences } from './host-rules.ts'
import { edgeRights, type RoleRules, type TableRule } from './rules.ts'

/** The same as of migrations, because both change tables. */
const LOCK = 7241986

export const rulesOf: Readonly<Record<LoginRole, RoleRules>> = { edge: edgeRights, host: hostRights }

/** Numbers that the logins of a role may read, beside tables. */
const sequencesOf: Readonly<Partial<Record<LoginRole, readonly string[]>>> = { host: hostSequences }

/**
 * Functions for conditions on rows. They know the login from the connection, which it cannot change.
 * @param of returns the name of a table or function in the schema, quoted
 */
const functions = (of: (name: string) => string): readonly string[] => [
  `create or replace function ${of('stead_own_serials')}() returns setof text language sql stable security definer
    set search_path = pg_catalog, pg_temp as $$
      select certificate.serial from ${of('role_certificates')} certificate
      join ${of('role_logins')} own on own.role = certificate.role and own.name = certificate.name
      where own.login = session_user $$`,
  ...hostFunctions(of),
]

/** Raise it when the statements below change, but no rule. */
const FORM = 2

/**
 * Gives the logins of machines exactly the rights of their role's rules, if any machine has joined. A table or column
 * without a rule is refused, also a new one. Call it after migrations. Changes nothing when nothing has changed.
 */
export async function grantLogins(database: Database): Promise<void> {
  if (database.dialect !== 'postgres') return
  if ((await existingGroups(database.read)).length === 0) return
  await database.transaction(async (tx) => {
    await withoutTimeLimit(tx)
    await grantLoginsIn(tx)
  })
}

/** Does the same as {@link grantLogins} in a transaction on PostgreSQL. */
export async function grantLoginsIn(tx: Tx): Promise<void> {
  if (!isPostgres(tx)) return
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(tx)
  const groups = await existingGroups(tx)
  const { tables, schema, databaseId } = await tablesThere(tx)
  const wanted = functions((name) => `${quoted(schema)}.${quoted(name)}`)
  const all = [FORM, databaseId, groups, rulesOf, sequencesOf, wanted, tables]
  const mark = createHash('sha256').update(JSON.stringify(all)).digest('hex')
  if (await isGranted(tx, groups, mark)) return
  const walled = new Set(groups.flatMap(({ role }) => tablesWithRows(rulesOf[role])))
  const grants = groups.flatMap(({ role, group }) => [
    `revoke all on all tables in schema ${quoted(schema)} from ${quoted(group)}`,
    ...(Object.entries(rulesOf[role]) as [string, TableRule][])
      .filter(([table]) => tables.includes(table))
      .flatMap(([table, rule]) => [
        grantOf(group, table, rule),
        ...(walled.has(table) ? limitsOf(group, table, rule) : []),
      ]),
    ...(sequencesOf[role] ?? []).map((each) => `grant select on sequence ${quoted(each)} to ${quoted(group)}`),
    `comment on role ${quoted(group)} is '${mark}'`,
  ])
  // Hundreds of statements, one by one, would take longer than a machine waits that joins.
  await sql.raw(`do $grants$ begin ${[...wanted, ...grants].join(';\n')}; end $grants$`).execute(tx)
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The tables of the log store exist from its first entry on. */
async function tablesThere(tx: Tx): Promise<{ tables: string[]; schema: string; databaseId: number }> {
  const { rows } = await sql<{ table: string; schema: string; databaseId: number }>`
    select relname as table, current_schema() as schema, db.oid::bigint as "databaseId" from pg_class
    join pg_database db on datname = current_database()
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
    order by relname`.execute(tx)
  const [first] = rows as [(typeof rows)[number]]
  return { tables: rows.map(({ table }) => table), schema: first.schema, databaseId: first.databaseId }
}

async function isGranted(tx: Tx, groups: readonly { readonly group: string }[], mark: string): Promise<boolean> {
  const names = groups.map(({ group }) => group)
  const { rows } = await sql<{ mark: string | null }>`
    select shobj_description(oid, 'pg_authid') as mark from pg_roles where rolname = any(${names}::text[])`.execute(tx)
  return rows.every((row) => row.mark === mark)
}

const tablesWithRows = (rules: RoleRules): string[] =>
  Object.entries(rules as Record<string, TableRule>).flatMap(([table, { rows, changes, results, inserted }]) =>
    [rows, changes, results, inserted].some((each) => each !== undefined) ? [table] : [],
  )

function grantOf(group: string, table: string, rule: TableRule): string {
  const rights = [
    ...rightsOn('select', rule.read),
    ...rightsOn('insert', rule.insert),
    ...rightsOn('update', rule.update),
    ...(rule.delete ? ['delete'] : []),
  ]
  return `grant ${rights.join(', ')} on ${quoted(table)} to ${quoted(group)}`
}

function rightsOn(right: 'select' | 'insert' | 'update', columns: readonly string[] | 'all' | undefined): string[] {
  if (columns === undefined) return []
  return [columns === 'all' ? right : `${right} (${columns.map(quoted).join(', ')})`]
}

/** The owner of the tables is not limited: policies are for the group alone. */
function limitsOf(group: string, table: string, rule: TableRule): string[] {
  const { rows = 'true', changes = rows, results = changes, inserted = results } = rule
  const [on, to] = [quoted(table), quoted(group)]
  const policies: Readonly<Record<string, string>> = {
    rows: `for select to ${to} using (${rows})`,
    inserted: `for insert to ${to} with check (${inserted})`,
    changed: `for update to ${to} using (${changes}) with check (${results})`,
    deleted: `for delete to ${to} using (${changes})`,
  }
  return [
    `alter table ${on} enable row level security`,
    ...Object.entries(policies).flatMap(([name, policy]) => [
      `drop policy if exists ${quoted(`${group}_${name}`)} on ${on}`,
      `create policy ${quoted(`${group}_${name}`)} on ${on} ${policy}`,
    ]),
  ]
}
