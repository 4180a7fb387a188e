import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { isPostgres, type Tx } from '../database.ts'

const derive = promisify(pbkdf2)

/** The roles whose machines can have logins with few rights. */
export const loginRoles = ['edge', 'host'] as const
export type LoginRole = (typeof loginRoles)[number]

/** The machine that a login belongs to. */
export interface LoginOwner {
  readonly role: string
  readonly name: string
}

/** A login of the database server. */
export interface DatabaseLogin {
  readonly user: string
  readonly password: string
}

/** The login of this process may not create other logins. */
export class LoginsRefused extends Error {
  override readonly name = 'LoginsRefused'
}

const PREFIX_LENGTH = 12
const NAME_LENGTH = 24

/** Names of roles hold for all databases of a server, so they begin with the installation. */
const prefixOf = (installation: string): string => `stead_${installation.slice(0, PREFIX_LENGTH)}`

/** Returns the name of the group whose members are the logins of a role. @param installation its identity */
export const groupOf = (installation: string, role: LoginRole): string => `${prefixOf(installation)}_${role}s`

/** Two names that differ only in letters that a name of PostgreSQL lacks differ in their hash. */
function loginOf(installation: string, { role, name }: LoginOwner): string {
  const readable = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '_')
    .slice(0, NAME_LENGTH)
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${prefixOf(installation)}_${role}_${readable}_${hash}`
}

export const isLoginRole = (role: string): role is LoginRole => (loginRoles as readonly string[]).includes(role)

const identityOf = async (tx: Tx): Promise<string> => {
  const { rows } = await sql<{ identity: string }>`select identity from installation where id = 1`.execute(tx)
  return (rows[0] as { identity: string }).identity
}

/** Returns the groups that exist, by role: none until a first machine has joined. */
export async function existingGroups(tx: Tx): Promise<{ readonly role: LoginRole; readonly group: string }[]> {
  const installation = await identityOf(tx)
  const all = loginRoles.map((role) => ({ role, group: groupOf(installation, role) }))
  const names = all.map(({ group }) => group)
  const { rows } = await sql<{ name: string }>`
    select rolname as name from pg_roles where rolname = any(${names}::text[])`.execute(tx)
  return all.filter(({ group }) => rows.some(({ name }) => name === group))
}

/** Creates the group of a role, unless it exists. It has no rights yet. @throws LoginsRefused */
export async function createGroup(tx: Tx, role: LoginRole): Promise<void> {
  const group = groupOf(await identityOf(tx), role)
  if (!(await roleExists(tx, group))) await sql`create role ${sql.id(group)} nologin`.execute(tx).catch(refused)
}

/**
 * Creates the login of a machine as a member of its group, or gives the one that it has a new password. The server gets
 * the password only in the form in which it stores it, so that no log contains it.
 * @param now milliseconds UTC
 * @throws LoginsRefused
 */
export async function createLogin(
  tx: Tx,
  { role, name }: { readonly role: LoginRole; readonly name: string },
  now: number,
): Promise<DatabaseLogin> {
  const installation = await identityOf(tx)
  const user = loginOf(installation, { role, name })
  const password = randomBytes(24).toString('base64url')
  const verb = (await roleExists(tx, user)) ? sql`alter` : sql`create`
  const stored = sql.lit(await storedForm(password))
  await sql`${verb} role ${sql.id(user)} login nosuperuser nocreatedb nocreaterole password ${stored}`
    .execute(tx)
    .catch(refused)
  await sql`grant ${sql.id(groupOf(installation, role))} to ${sql.id(user)}`.execute(tx).catch(refused)
  await tx
    .insertInto('role_logins')
    .values({ login: user, role, name, created_at: now })
    .onConflict((conflict) => conflict.column('login').doNothing())
    .execute()
  return { user, password }
}

/**
 * Takes all rights from the login of a machine, also on connections that are open, and closes them. The name stays on
 * the server, without a password.
 */
export async function revokeLogin(tx: Tx, { role, name }: LoginOwner): Promise<void> {
  if (!isPostgres(tx) || !isLoginRole(role)) return
  const gone = await tx
    .deleteFrom('role_logins')
    .where('role', '=', role)
    .where('name', '=', name)
    .returning('login')
    .executeTakeFirst()
  // A restored database may be on another server.
  if (!gone || !(await roleExists(tx, gone.login))) return
  const login = sql.id(gone.login)
  await sql`alter role ${login} nologin password null`.execute(tx)
  await sql`revoke ${sql.id(groupOf(await identityOf(tx), role))} from ${login}`.execute(tx)
  // Only members may close connections of a role.
  await sql`grant ${login} to current_user`.execute(tx)
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${gone.login}`.execute(tx)
  await sql`revoke ${login} from current_user`.execute(tx)
}

async function roleExists(tx: Tx, name: string): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_roles where rolname = ${name}`.execute(tx)
  return rows.length > 0
}

const INSUFFICIENT_PRIVILEGE = '42501'

function refused(error: unknown): never {
  if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw error
  throw new LoginsRefused('The login of this control may not create logins (CREATEROLE).', { cause: error })
}

const ITERATIONS = 4096

/** Returns the form in which PostgreSQL stores a password (RFC 5803). */
async function storedForm(password: string): Promise<string> {
  const salt = randomBytes(16)
  const salted = await derive(password, salt, ITERATIONS, 32, 'sha256')
  const key = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(key('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${key('Server Key').toString('base64')}`
}
