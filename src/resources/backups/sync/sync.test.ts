import { describe, expect, test } from 'vitest'
import { isInScope } from '../../../hosting/site-files/scope.ts'
import { type NewSync, partsToSync, scopeOfSync } from './sync.ts'

const files = {
  themes: 'wp-content/themes/a/style.css',
  plugins: 'wp-content/plugins/b/b.php',
  uploads: 'wp-content/uploads/2026/c.png',
  content: 'wp-content/languages/de.mo',
  root: 'robots.txt',
} as const
type Part = keyof typeof files
const parts = Object.keys(files) as Part[]
const all = Array.from({ length: 31 }, (_none, index) => parts.filter((_part, at) => (index + 1) & (1 << at)))

describe('the files of a sync', () => {
  test.each(all.map((wanted) => [wanted.join(', '), wanted] as const))(
    '%s: overwrites these, and no others',
    (_name, wanted) => {
      const scope = scopeOfSync(wanted)
      expect(parts.filter((part) => isInScope(scope, files[part]))).toEqual(wanted)
      // Files that tell this site how to reach its database.
      for (const path of [
        'wp-config.php',
        'wp-content/db.php',
        'wp-content/mu-plugins/sqlite-database-integration/load.php',
      ])
        expect(isInScope(scope, path)).toBe(false)
      expect(isInScope(scope, 'wp-content/mu-plugins/own.php')).toBe(wanted.includes('content'))
    },
  )

  test('each request field maps to one part', () => {
    const body: NewSync = {
      from_site_id: 1,
      to_site_id: 2,
      uploads_directory: true,
      root_directory: true,
      database: true,
    }
    expect(partsToSync({ ...body, themes_directory: false })).toEqual(['uploads', 'root'])
  })
})
