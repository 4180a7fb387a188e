/** Writes a backup with the given amount of content, in a process that tests kill. */
import { testBackups } from './backup-store.fixture.ts'
import { noise, source } from './trees.fixture.ts'

const { folder, name, files } = JSON.parse(process.argv[2] as string) as { folder: string; name: string; files: number }
const { backups } = await testBackups({ folder })
const content = Object.fromEntries(Array.from({ length: files }, (_, n) => [`f${n}`, noise(1 << 20, n + 1)]))
process.stdout.write('begun\n')
await backups.repository('site-1').writeTree(source(content), { name })
process.stdout.write('written\n')
