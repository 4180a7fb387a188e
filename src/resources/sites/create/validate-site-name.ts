import Type from 'typebox'
import { reply } from '../../../platform/http/endpoint.ts'
import { isReservedSiteName } from '../../access/reserved-names.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { isNameTaken } from '../site.store.ts'
import { nameFaultOf } from '../site.ts'

/** This check says 3 characters although creating a site requires 4, as the API documents. */
const LEAST_CHARACTERS = 3

export const validateSiteName = endpoint({
  id: 'validateSiteName',
  method: 'POST',
  path: '/v1/sites/validate',
  summary: 'Check a site name',
  description: 'Always returns 200. `valid` tells whether the name is available, and `message` explains why not.',
  access: { account: 'own' },
  reads: true,
  anyBody: true,
  body: Type.Object({
    name: Type.Optional(Type.Unknown({ description: 'A string (required)', examples: ['my-first-site'] })),
  }),
  response: Type.Object({ valid: Type.Boolean({ examples: [true] }) }, { title: 'NameCheck' }),

  async handle({ tx, config }, { body }) {
    const name = typeof body.name === 'string' ? body.name.toLowerCase() : ''
    const fault = nameFaultOf(name, LEAST_CHARACTERS)
    if (fault) return reply({ valid: false }, { message: faultMessage(fault) })
    if (isReservedSiteName(name, config) || (await isNameTaken(tx, name)))
      return reply({ valid: false }, { message: 'Name is already taken' })
    return reply({ valid: true }, { message: 'Name is valid' })
  },
})

const TOO_SHORT = `must be at least ${LEAST_CHARACTERS} characters`

/**
 * Returns the error text. Clients recognize a badly formed name by the text for too short names, so that comes first,
 * whatever else is wrong.
 */
const faultMessage = (fault: string): string =>
  fault === TOO_SHORT ? `Name ${TOO_SHORT}` : `Name ${TOO_SHORT}; it ${fault}`
