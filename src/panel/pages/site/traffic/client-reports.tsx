import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Card } from '../../../parts/card.tsx'
import { Form } from '../../../parts/form.tsx'
import { List } from '../../../parts/list.tsx'
import { May } from '../../../parts/rights.tsx'
import { told } from '../../../parts/toasts.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { clientReportsTexts as texts } from '../../../texts/site/client-reports.ts'
import { timeOf } from '../../../time.ts'
import type { PartProps } from '../part.ts'

type Settings = components['schemas']['ClientReportSettings']

/** Monthly reports for the clients of an agency, and their recipients. */
export function ClientReports({ id }: PartProps) {
  const params = { path: { id }, query: { per_page: 50 } }
  const months = useLoad(() => ask(() => api.GET('/v1/sites/{id}/client-reports', { params })), [id])
  return (
    <>
      <Card title={texts.reports} isFlush>
        <p class="quiet body">
          {texts.about} <a href="#/account/you">{texts.branding}</a>
        </p>
        <List
          from={months}
          caption={texts.reports}
          head={texts.head}
          hiddenHeads={texts.hiddenHeads}
          columns={['wide', '', 'actions']}
          empty={<p class="quiet body">{texts.none}</p>}
          row={({ month, state }) => {
            const address = `/v1/sites/${id}/client-reports/${month}`
            const name = nameOf(month)
            return [
              <b>{name}</b>,
              <span class={`badge ${state === 'complete' ? 'good' : ''}`}>{texts.states[state]}</span>,
              <span class="row">
                <a
                  class="button sm"
                  href={`${address}/html`}
                  target="_blank"
                  rel="noreferrer"
                  aria-label={texts.viewOf(name)}
                >
                  {texts.view}
                </a>
                <a
                  class="button sm"
                  href={`${address}/pdf`}
                  target="_blank"
                  rel="noreferrer"
                  aria-label={texts.pdfOf(name)}
                >
                  {texts.pdf}
                </a>
              </span>,
            ]
          }}
        />
      </Card>
      <May do="getClientReportSettings" what={texts.recipients}>
        <Mails id={id} />
      </May>
    </>
  )
}

const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })
const nameOf = (month: string): string => monthName.format(new Date(`${month}-01T00:00:00Z`))

function Mails({ id }: { readonly id: number }) {
  const params = { path: { id } }
  const settings = useLoad<Settings>(
    () => ask(() => api.GET('/v1/sites/{id}/client-report-settings', { params })),
    [id],
  )
  const known = settings.got.value?.data
  const mails = { got: { value: known && { data: known.mails } }, fault: settings.fault }
  return (
    <>
      <Card title={texts.recipients}>
        <p class="quiet">{texts.recipientsAre}</p>
        {known && (
          <Form
            key={known.recipients.join()}
            of="updateClientReportSettings"
            fields={[
              {
                ...{ name: 'recipients', label: texts.addresses, type: 'textarea', isOptional: true },
                ...{ value: known.recipients.join('\n'), hint: texts.onePerLine },
              },
            ]}
            button={texts.save}
            submit={async ({ recipients = '' }) => {
              const body = { recipients: recipients.split(/[\s,;]+/).filter(Boolean) }
              await ask(() => api.PUT('/v1/sites/{id}/client-report-settings', { params, body }))
              told(texts.saved)
              await settings.reload()
            }}
          />
        )}
      </Card>
      <Card title={texts.mails} isFlush>
        <List
          from={mails}
          caption={texts.mails}
          head={texts.mailsHead}
          columns={['', 'wide', '']}
          empty={<p class="quiet body">{texts.noMails}</p>}
          row={({ month, recipient, sent_at: sentAt, fault }) => [
            nameOf(month),
            recipient,
            fault ?? (sentAt === null ? texts.waiting : texts.sent(timeOf(sentAt))),
          ]}
        />
      </Card>
    </>
  )
}
