import { later } from '../../parts/later.tsx'
import { accountPartsTexts as texts } from '../../texts/account-parts.ts'

interface PartProps {
  /** The part of the address that names it. */
  readonly rest: readonly string[]
}

const parts = [
  ['you', later<PartProps>(() => import('../account.tsx').then((file) => file.AccountPage))],
  ['plan', later<PartProps>(() => import('./plan.tsx').then((file) => file.Plan))],
  ['collaborators', later<PartProps>(() => import('./people.tsx').then((file) => file.People))],
  ['alerts', later<PartProps>(() => import('./alerts.tsx').then((file) => file.AlertSettings))],
  ['webhooks', later<PartProps>(() => import('./webhooks.tsx').then((file) => file.Webhooks))],
  ['mu-plugins', later<PartProps>(() => import('./mu-plugins.tsx').then((file) => file.MuPlugins))],
] as const

/** The parts of the account, each with an address. */
export function AccountParts({ rest: [part = 'you', ...rest] }: PartProps) {
  const Part = parts.find(([path]) => path === part)?.[1]
  return Part ? <Part key={part} rest={rest} /> : <p>{texts.none}</p>
}
