import Type from 'typebox'
import { invalidInput } from '../../../platform/http/problem.ts'
import { isMailAddress } from '../../../platform/mail/mail-address.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { actions } from '../actions.ts'
import { monthOf } from '../month.ts'
import { ClientReportSettings, presentReportSettings, recipientsField } from './client-report-settings.ts'
import { recipientsOf, setRecipients } from './recipients.store.ts'

export const updateClientReportSettings = endpoint({
  id: 'updateClientReportSettings',
  method: 'PUT',
  path: '/v1/sites/{id}/client-report-settings',
  summary: 'Update who receives the client reports of a site',
  description:
    'An addition of Stead. The list replaces the one before; an empty one ends the mails. The first report is that of this month.',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  body: Type.Object({ recipients: recipientsField }, { title: 'ClientReportSettingsUpdate' }),
  response: ClientReportSettings,

  async handle(context, { body }) {
    const { tx, site, now } = context
    const recipients = addressesOf(body.recipients)
    const before = await recipientsOf(tx, site.id)
    if (recipients.join() !== before.join()) {
      await setRecipients(tx, site.id, { recipients, lastMonth: monthOf(now) - 1, now })
      const message =
        recipients.length === 0
          ? 'Ended the mails with client reports'
          : `Client reports go to ${recipients.join(', ')}`
      await context.record({ action: actions['client_report.recipients'], message })
    }
    return presentReportSettings(tx, site.id)
  },
})

/** Returns the addresses in lower case, each once. */
function addressesOf(given: readonly string[]): string[] {
  const faults = given.flatMap((address, index) =>
    isMailAddress(address.trim()) ? [] : [`recipients.${index}: must be a valid email`],
  )
  if (faults.length > 0) throw invalidInput(faults)
  return [...new Set(given.map((address) => address.trim().toLowerCase()))]
}
