import { expect, test } from 'vitest'
import { describeRestore } from './restore.ts'

test('describes what is restored, including which parts of a backup', () => {
  const [files, database] = [Date.UTC(2026, 0, 31, 9, 30), Date.UTC(2026, 0, 31, 10)]
  expect(describeRestore({ files, database }, {})).toBe(
    'the files of 2026-01-31 09:30 UTC and the database of 2026-01-31 10:00 UTC',
  )
  expect(describeRestore({ files }, { paths: ['wp-content/themes'] })).toBe(
    'wp-content/themes of the files of 2026-01-31 09:30 UTC',
  )
  expect(
    describeRestore({ files, database }, { paths: ['a', 'b', 'c', 'd', 'e'], tables: ['wp_posts', 'wp_users'] }),
  ).toBe(
    'a, b, c, and 2 more of the files of 2026-01-31 09:30 UTC and wp_posts, wp_users of the database of 2026-01-31 10:00 UTC',
  )
})
