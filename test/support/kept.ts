import { tmpdir } from 'node:os'

/** Where tests keep what later runs reuse: an unpacked WordPress and templates of sites. `tiers/place.ts` sets it. */
export const keptDir = (): string => process.env.TEST_KEPT_DIR ?? tmpdir()
