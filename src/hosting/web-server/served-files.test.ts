import { lstatSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ServedFiles } from './served-files.ts'

let siteDirectory: string
const onChanged = vi.fn()
let files: ServedFiles

beforeEach(async () => {
  onChanged.mockReset()
  siteDirectory = await mkdtemp(join(tmpdir(), 'stead-served-'))
  await mkdir(join(siteDirectory, 'web/wp-content/cache'), { recursive: true })
  files = new ServedFiles({ onChanged, pauseMs: { write: 0, read: 0 } })
})
afterEach(() => rm(siteDirectory, { recursive: true, force: true }))

const place = (path: string) => join(siteDirectory, 'web', decodeURIComponent(path))
/** Imitates serving a file to an edge. */
async function serve(path: string, text = 'before', siteId = 7): Promise<void> {
  await writeFile(place(path), text)
  files.note({ siteId, siteDirectory }, path, lstatSync(place(path)))
}

test('reports a file once that PHP has rewritten or removed, and no others', async () => {
  await serve('/wp-content/cache/site.css')
  await serve('/wp-content/cache/a%20b.css')
  await serve('/wp-content/cache/gone.css')
  await serve('/wp-content/cache/same.css')
  await writeFile(place('/wp-content/cache/site.css'), 'another length')
  await writeFile(place('/wp-content/cache/a%20b.css'), 'of another length')
  await rm(place('/wp-content/cache/gone.css'))
  files.mayHaveChanged(7, 'write')
  const changed = ['/wp-content/cache/site.css', '/wp-content/cache/a%20b.css', '/wp-content/cache/gone.css']
  await vi.waitFor(() => expect(onChanged.mock.calls).toEqual([[7, changed]]))
  await serve('/wp-content/cache/later.css')
  await writeFile(place('/wp-content/cache/later.css'), 'changed again')
  files.mayHaveChanged(7, 'read')
  await vi.waitFor(() => expect(onChanged).toHaveBeenLastCalledWith(7, ['/wp-content/cache/later.css']))
  expect(onChanged).toHaveBeenCalledTimes(2)
})

test('reports a rewritten file that is requested with another query before its next check', async () => {
  const path = '/wp-content/cache/site.css'
  await serve(path)
  files.note({ siteId: 7, siteDirectory }, path, lstatSync(place(path)))
  expect(onChanged).not.toHaveBeenCalled()
  await serve(path, 'another length')
  expect(onChanged.mock.calls).toEqual([[7, [path]]])
})

test('ignores files elsewhere, and files of another site', async () => {
  await writeFile(place('/theme.css'), 'x')
  files.note({ siteId: 7, siteDirectory }, '/theme.css', lstatSync(place('/theme.css')))
  // Rewrite rules have answered with another file.
  await writeFile(place('/wp-content/a.css'), 'x')
  files.note({ siteId: 7, siteDirectory }, '/wp-content/a.css', lstatSync(place('/theme.css')))
  files.note({ siteId: 7, siteDirectory }, '/wp-content/%ff', lstatSync(place('/theme.css')))
  await serve('/wp-content/b.css', 'x', 8)
  await serve('/wp-content/c.css')
  for (const name of ['theme.css', 'wp-content/a.css', 'wp-content/b.css', 'wp-content/c.css'])
    await writeFile(place(`/${name}`), 'changed')
  files.mayHaveChanged(7, 'write')
  files.mayHaveChanged(9, 'write')
  await vi.waitFor(() => expect(onChanged.mock.calls).toEqual([[7, ['/wp-content/c.css']]]))
})

test('reports many files at once as all files of the site, and limits the number for each site', async () => {
  for (let each = 0; each < 600; each++) await serve(`/wp-content/cache/${each}.css`)
  for (let each = 0; each < 600; each++) await writeFile(place(`/wp-content/cache/${each}.css`), 'x')
  files.mayHaveChanged(7, 'write')
  await vi.waitFor(() => expect(onChanged.mock.calls).toEqual([[7, 'all']]))
  // All remembered files were purged.
  files.mayHaveChanged(7, 'write')
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(onChanged).toHaveBeenCalledTimes(1)
})
