import { expect, test } from 'vitest'
import { picturesOf } from './import-pictures.ts'

const site = { id: 7, isInMaintenance: false, defensiveUntil: null }
const pages = { old: 'http://old.example.com/', new: 'http://new.example.com/', signal: new AbortController().signal }
const compare = (changes: Partial<typeof site> | { defensiveUntil: number }) => {
  const services = { comparePictures: async ({ siteId }: { siteId: number }) => siteId }
  return picturesOf(services, { ...site, ...changes }, () => 100)(pages)
}

test.each([{}, { defensiveUntil: 100 }])('the pictures of a site with %j are compared', async (changes) => {
  expect(await compare(changes)).toBe(7)
})

test.each([
  [{ isInMaintenance: true }, 'This site is in maintenance mode'],
  [{ defensiveUntil: 101 }, 'This site is in defensive mode'],
])('the pictures of a site with %j are not', async (changes, reason) => {
  await expect(compare(changes)).rejects.toThrow(reason)
})
