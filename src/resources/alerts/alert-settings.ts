import Type from 'typebox'
import { oneOf } from '../../platform/http/schemas.ts'
import { KindField } from './alert.ts'
import { alertKindNames, alertKindOf } from './kinds.ts'

/** Ways in which an alert reaches a person. */
export type AlertChannel = 'mail' | 'bell'

/** What a person chose differently from {@link isMailed} and from a bell that shows everything. */
export type AlertChoices = Readonly<Record<string, { readonly [Channel in AlertChannel]?: boolean }>>

/** Which alerts reach a person. */
export interface AlertSettings {
  readonly choices: AlertChoices
  readonly mailsSharedSites: boolean
  readonly readTo: number
}

/** Settings of a person who has chosen nothing. */
export const usualSettings: AlertSettings = { choices: {}, mailsSharedSites: false, readTo: 0 }

/** Returns whether alerts of a kind reach a person. */
export const isChosen = ({ choices }: AlertSettings, channel: AlertChannel, kind: string): boolean =>
  choices[kind]?.[channel] ?? (channel === 'bell' || (alertKindOf(kind)?.isMailed ?? true))

/** Returns the kinds that reach a person. */
export const chosenKinds = (settings: AlertSettings, channel: AlertChannel): string[] =>
  alertKindNames.filter((kind) => isChosen(settings, channel, kind))

/** Returns the choices with one channel set to some kinds, and no other. */
export function withKinds(choices: AlertChoices, channel: AlertChannel, kinds: readonly string[]): AlertChoices {
  const set = alertKindNames.map((kind) => [kind, { ...choices[kind], [channel]: kinds.includes(kind) }])
  return { ...choices, ...Object.fromEntries(set) }
}

const kindsField = (description: string) =>
  Type.Array(KindField, { description, maxItems: 100, examples: [['site_down']] })

export const settingsFields = {
  mail: kindsField('Kinds of alerts that you get by mail'),
  bell: kindsField('Kinds of alerts that the bell of the control panel shows'),
  mail_shared_sites: Type.Boolean({
    description: 'Whether you get mails about sites of others that you collaborate on, too',
    examples: [false],
  }),
}

export const AlertSettingsSchema = Type.Object(
  {
    ...settingsFields,
    kinds: Type.Array(
      Type.Object(
        {
          kind: Type.String({ examples: ['site_down'] }),
          title: Type.String({ examples: ['Site is down'] }),
          severity: oneOf(['critical', 'warning'], { examples: ['critical'] }),
        },
        { title: 'AlertKind' },
      ),
      { description: 'All kinds of alerts that can reach you' },
    ),
  },
  { title: 'AlertSettings' },
)

/** The AlertSettings object of the API. Only the operator gets alerts of the installation. */
export function presentSettings(settings: AlertSettings, isOperator: boolean): Type.Static<typeof AlertSettingsSchema> {
  const offered = alertKindNames.filter((kind) => isOperator || !alertKindOf(kind)?.isOfPlatform)
  const chosen = (channel: AlertChannel) => offered.filter((kind) => isChosen(settings, channel, kind))
  return {
    mail: chosen('mail'),
    bell: chosen('bell'),
    mail_shared_sites: settings.mailsSharedSites,
    kinds: offered.map((kind) => {
      const { title = kind, severity = 'warning' } = alertKindOf(kind) ?? {}
      return { kind, title, severity }
    }),
  }
}
