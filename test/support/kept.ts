import { tmpdir } from 'node:os'

/** Where tests keep what later runs can use: an unpacked WordPress, templates of sites. `tiers/place.ts` names it. */
export const keptDir = (): string => process.env.TEST_KEPT_DIR ?? tmpdir()
