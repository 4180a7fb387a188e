import Type from 'typebox'
import { invalidInput } from '../../platform/http/problem.ts'
import { nullable } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { firstSeen, idsFound, peopleSeen, sitesSeen } from './search.store.ts'
import { foldedWords } from './words.ts'

const MOST_WORDS = 8

const SiteMatch = Type.Object(
  {
    id: Type.Integer({ examples: [12] }),
    name: Type.String({ examples: ['shop-one'] }),
    display_name: Type.String({ examples: ['Shop One'] }),
    primary_domain: nullable(Type.String({ examples: ['shop.example.com'] })),
    staging: Type.Boolean(),
  },
  { title: 'SiteMatch' },
)

const PersonMatch = Type.Object(
  {
    email: Type.String({ examples: ['ada@example.com'] }),
    name: Type.String({ examples: ['Ada'] }),
  },
  { title: 'PersonMatch' },
)

export const search = endpoint({
  id: 'search',
  method: 'GET',
  path: '/v1/search',
  summary: 'Search sites and people',
  description:
    'Returns the sites that you can see, and the people who collaborate on your sites. Each word of `q` must begin a word of the result: of a name, display name, domain or tag of a site, or of a name or e-mail address of a person. Case and accents do not matter. Exact words come first. For any part of a word, use `POST /v1/sites/search`.',
  access: { account: 'own' },
  etag: true,
  query: Type.Object({
    q: Type.String({ minLength: 1, maxLength: 200, description: 'Up to 8 words', examples: ['shop'] }),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 50, description: 'How many results of each kind. Default: 10' }),
    ),
  }),
  response: Type.Object({ sites: Type.Array(SiteMatch), people: Type.Array(PersonMatch) }, { title: 'SearchResults' }),

  async handle({ tx, caller: { accountId } }, { query: { q, limit = 10 } }) {
    const words = foldedWords(q)
    if (words.length > MOST_WORDS) throw invalidInput([`q: must have at most ${MOST_WORDS} words`])
    const siteIds = await idsFound(tx, accountId, 'site', words)
    const personIds = await idsFound(tx, accountId, 'person', words)
    const sites = await firstSeen(siteIds, limit, (ids) => sitesSeen(tx, accountId, ids))
    const people = await firstSeen(personIds, limit, (ids) => peopleSeen(tx, accountId, ids))
    return {
      sites: sites.map(({ staging, ...site }) => ({ ...site, staging: staging === 1 })),
      people: people.map(({ email, name }) => ({ email, name })),
    }
  },
})
