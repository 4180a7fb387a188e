import { at, type Examples, type Sample } from '../../../test/support/samples.ts'

export const samples: readonly Sample[] = [{ endpoint: 'search', path: at('/v1/search?q=shop') }]

export const examples: Examples = { search: () => ({ query: { q: 'shop' } }) }
