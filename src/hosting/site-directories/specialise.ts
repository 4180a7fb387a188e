import { randomBytes } from 'node:crypto'
import { chmod, chown, copyFile, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { wpConfig } from '../php/wp-config.ts'
import { DATABASE_FILE } from '../site-database/sqlite-place.ts'
import type { ConfigConstants } from '../site-files/platform/wp-config-file.ts'
import type { SqlEdit } from './directory-databases.ts'
import { asDiskFull } from './disk-space.ts'
import { templateMarks } from './template.ts'

/** What turns a copy of the template into one particular site. */
export interface SiteFacts {
  /** Host name, with the port unless it is the default. */
  readonly address: string
  readonly title: string
  readonly adminUsername: string
  readonly adminEmail: string
  readonly environmentType: 'local' | 'development' | 'staging' | 'production'
  /** Constants of this site alone, such as those for multisite. `null` for a constant that it does not have. */
  readonly constants: ConfigConstants
  /** Milliseconds UTC. */
  readonly now: number
}

/** The database of a site directory's site on a server. */
export interface OnServer {
  fill(edits: readonly SqlEdit[]): Promise<void>
  readonly constants: ConfigConstants
}

/**
 * Turns a prepared site directory into a site. Writes the site's address, title, and administrator into the template's
 * database, and creates a wp-config.php with new keys. Does not run PHP and takes a few milliseconds. Always starts
 * from the template, so that it can repeat after a crash and nothing of the warm-up remains.
 */
export async function specialiseDirectory(
  siteDirectory: string,
  templatePath: string,
  uid: number | null,
  facts: SiteFacts,
  onServer?: OnServer,
): Promise<void> {
  const database = join(siteDirectory, DATABASE_FILE)
  const config = join(siteDirectory, 'web/wp-config.php')
  if (onServer) await onServer.fill(editsOf(facts))
  else
    await replaceFile(database, uid, 0o600, async (file) => {
      await copyFile(join(templatePath, DATABASE_FILE), file)
      editDatabase(file, facts)
    })
  await replaceFile(config, uid, 0o640, async (file) => {
    const { environmentType, constants } = facts
    const handle = await open(file, 'w')
    const extraConstants = withoutNulls(constants)
    const own = onServer ? { database: onServer.constants } : {}
    await handle.writeFile(wpConfig({ environmentType, extraConstants, ...own }, randomBytes))
    await handle.close()
  })
}

const withoutNulls = (constants: ConfigConstants) =>
  Object.fromEntries(Object.entries(constants).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))

/** Gives the new file its owner and flushes it to disk before it replaces the old one. */
async function replaceFile(
  file: string,
  uid: number | null,
  mode: number,
  make: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${file}.new`
  try {
    await make(temporary)
  } catch (error) {
    await rm(temporary, { force: true })
    throw asDiskFull(error)
  }
  await chmod(temporary, mode)
  // If it belonged to root, WordPress would answer 200 from a database that it cannot write.
  if (uid !== null) await chown(temporary, uid, uid)
  for (const path of [temporary, dirname(file)]) {
    const handle = await open(path, 'r')
    await handle.sync()
    await handle.close()
    if (path === temporary) await rename(temporary, file)
  }
}

function editDatabase(file: string, facts: SiteFacts): void {
  const database = new DatabaseSync(file)
  try {
    database.exec('pragma journal_mode = delete; pragma synchronous = off; begin')
    for (const [statement, ...values] of editsOf(facts)) database.prepare(statement).run(...values)
    database.exec('commit')
  } finally {
    database.close()
  }
}

function editsOf(facts: SiteFacts): SqlEdit[] {
  const url = `http://${facts.address}`
  const from = `http://${templateMarks.address}`
  const date = new Date(facts.now).toISOString().slice(0, 19).replace('T', ' ')
  const option = (name: string, value: string): SqlEdit => [
    'update wp_options set option_value = ? where option_name = ?',
    value,
    name,
  ]
  return [
    option('siteurl', url),
    option('home', url),
    option('blogname', facts.title),
    option('admin_email', facts.adminEmail),
    // WordPress asks the administrator to confirm the address after half a year.
    option('admin_email_lifespan', String(Math.floor(facts.now / 1000) + 182 * 86_400)),
    [
      `update wp_users set user_login = ?, user_nicename = ?, display_name = ?, user_email = ?, user_url = ?,
       user_registered = ?, user_pass = ? where ID = 1`,
      facts.adminUsername,
      facts.adminUsername.toLowerCase().slice(0, 50),
      facts.adminUsername,
      facts.adminEmail,
      url,
      date,
      unusablePassword(),
    ],
    ["update wp_usermeta set meta_value = ? where user_id = 1 and meta_key = 'nickname'", facts.adminUsername],
    [
      `update wp_posts set guid = replace(guid, ?, ?), post_content = replace(post_content, ?, ?),
       post_date = ?, post_date_gmt = ?, post_modified = ?, post_modified_gmt = ?`,
      ...[from, url, from, url],
      ...[date, date, date, date],
    ],
    ['update wp_comments set comment_date = ?, comment_date_gmt = ?', date, date],
  ]
}

/**
 * Returns a hash that no password matches. The administrator sets one with the password operation, or by mail from
 * WordPress.
 */
const unusablePassword = (): string => `!${randomBytes(24).toString('base64')}`
