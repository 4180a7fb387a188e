import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wpConfig } from '../../src/hosting/php/wp-config.ts'
import { giveTo, layOutHome } from '../../src/hosting/site-files/lay-out-home.ts'

export const sqlitePluginZip = join(import.meta.dirname, '../../third-party/sqlite-database-integration-3.0.1.zip')

/** A uid that belongs to nobody, where the tests run as root. */
export const testUid = process.getuid?.() === 0 ? 200_123 : null

/** A new home below a temporary folder that only its owner may enter, as a data folder is. */
export async function testHome(corePath: string, uid: number | null = testUid): Promise<string> {
  const home = join(await mkdtemp(join(tmpdir(), 'stead-home-')), 'h1')
  await layOutHome(home, {
    corePath,
    sqlitePluginZip,
    wpConfig: wpConfig({ environmentType: 'production' }, randomBytes),
  })
  if (uid !== null) await giveTo(uid, home)
  return home
}
