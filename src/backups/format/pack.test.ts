/** Tests the table at the end of a pack when the storage returns something other than what was written. */
import { expect, it, vi } from 'vitest'
import { repositoryKeys } from './keys.ts'
import { readPackTable } from './pack.ts'

it('refuses a footer with a larger table than any pack has, before it reads more', async () => {
  // The last bytes of a pack: the length of the table, then its mark.
  const footer = Buffer.alloc(64)
  footer.write('stpack01', 56, 'latin1')
  footer.writeUInt32BE(0xffff_ffff, 52)
  const read = vi.fn(async () => footer)
  await expect(readPackTable(repositoryKeys(Buffer.alloc(32), 'a'), 'p', read)).rejects.toThrow('its end is damaged')
  expect(read).toHaveBeenCalledTimes(1)
})
