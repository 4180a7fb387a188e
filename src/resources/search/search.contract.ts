import type { Contract } from '../../../test/support/contract.ts'
import { at, type Examples, type Sample } from '../../../test/support/samples.ts'

const samples: readonly Sample[] = [{ endpoint: 'search', path: at('/v1/search?q=shop') }]

const examples: Examples = { search: () => ({ query: { q: 'shop' } }) }

export const contract: Contract = { samples, examples }
