import Type from 'typebox'
import { nullable, oneOf } from '../../platform/http/schemas.ts'

/** The checks, in display order. */
export const areas = [
  'settings',
  'disk',
  'databases',
  'clock',
  'ports',
  'names',
  'dns',
  'certificates',
  'storage',
  'mail',
  'php',
  'limits',
] as const
export type Area = (typeof areas)[number]

export const checkStates = ['ok', 'warning', 'problem', 'skipped'] as const

/** Result of one check. */
export const InstallationCheck = Type.Object(
  {
    area: oneOf(areas, { description: 'Name of the check' }),
    state: oneOf(checkStates, {
      description:
        '`problem`: something does not work. `warning`: it works, but you should change it. `skipped`: Stead could not check it now',
    }),
    text: Type.String({
      description: 'Result of the check',
      examples: ['203.0.113.7:443 is in use by another program.'],
    }),
    remedy: nullable(
      Type.String({
        description: 'What to do. Null if nothing is wrong',
        examples: ['Choose another with STEAD_EDGE_LISTEN.'],
      }),
    ),
  },
  { title: 'InstallationCheck' },
)
export type InstallationCheck = Type.Static<typeof InstallationCheck>

/** Results of all checks at one moment, milliseconds UTC. */
export interface FoundByChecks {
  readonly at: number
  readonly found: readonly InstallationCheck[]
}
