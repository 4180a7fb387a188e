import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { type Database, isPostgres, type Tx, withoutTimeLimit } from '../../platform/db/database.ts'
import { existingGroups, type LoginRole } from '../../platform/db/logins/logins.store.ts'
import { edgeRights, type RoleRules, type TableRule } from './rules.ts'

/** The same as of migrations, because both change tables. */
const LOCK = 7241986

export const rulesOf: Readonly<Record<LoginRole, RoleRules>> = { edge: edgeRights }

/** Functions for conditions on rows. They know the login from the connection, which it cannot change. */
const FUNCTIONS = [
  `create or replace function stead_own_serials() returns setof text language sql stable security definer
    set search_path from current as $$
      select certificate.serial from role_certificates certificate
      join role_logins own on own.role = certificate.role and own.name = certificate.name
      where own.login = session_user $$`,
]

/** Raise it when the statements below change, but no rule. */
const FORM = 1

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
  const all = [FORM, databaseId, groups, rulesOf, FUNCTIONS, tables]
  const mark = createHash('sha256').update(JSON.stringify(all)).digest('hex')
  if (await isGranted(tx, groups, mark)) return
  for (const each of FUNCTIONS) await sql.raw(each).execute(tx)
  const walled = new Set(groups.flatMap(({ role }) => tablesWithRows(rulesOf[role])))
  for (const { role, group } of groups) {
    await sql`revoke all on all tables in schema ${sql.id(schema)} from ${sql.id(group)}`.execute(tx)
    for (const [table, rule] of Object.entries(rulesOf[role]) as [string, TableRule][]) {
      if (!tables.includes(table)) continue
      await grantTable(tx, group, table, rule)
      if (walled.has(table)) await limitRows(tx, group, table, rule)
    }
    await sql`comment on role ${sql.id(group)} is ${sql.lit(mark)}`.execute(tx)
  }
}

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
  Object.entries(rules).flatMap(([table, { rows }]) => (rows === undefined ? [] : [table]))

async function grantTable(tx: Tx, group: string, table: string, rule: TableRule): Promise<void> {
  const rights = [
    ...rightsOn('select', rule.read),
    ...rightsOn('insert', rule.insert),
    ...rightsOn('update', rule.update),
    ...(rule.delete ? [sql`delete`] : []),
  ]
  await sql`grant ${sql.join(rights)} on ${sql.table(table)} to ${sql.id(group)}`.execute(tx)
}

function rightsOn(right: 'select' | 'insert' | 'update', columns: readonly string[] | 'all' | undefined) {
  if (columns === undefined) return []
  if (columns === 'all') return [sql.raw(right)]
  return [sql`${sql.raw(right)} (${sql.join(columns.map((column) => sql.id(column)))})`]
}

/** The owner of the tables is not limited: policies are for the group alone. */
async function limitRows(tx: Tx, group: string, table: string, { rows = 'true' }: TableRule): Promise<void> {
  const [on, name, condition]: RawBuilder<unknown>[] = [sql.table(table), sql.id(`${group}_rows`), sql.raw(rows)]
  await sql`alter table ${on} enable row level security`.execute(tx)
  await sql`drop policy if exists ${name} on ${on}`.execute(tx)
  await sql`create policy ${name} on ${on} for all to ${sql.id(group)} using (${condition}) with check (${condition})`.execute(
    tx,
  )
}
