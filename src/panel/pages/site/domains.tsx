import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { domainsTexts as texts } from '../../texts/site/domains.ts'

import type { PartProps } from './part.ts'

export function Domains({ id, act }: PartProps) {
  const params = { path: { site_id: id } }
  const domains = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/domains', { params })))
  const isAdding = useSignal(false)
  const primary = (domain: number) =>
    act(texts.primaryDomain, async () => {
      const path = { site_id: id, id: domain }
      const got = await ask(() => api.PUT('/v1/sites/{site_id}/domains/{id}/primary', { params: { path } }))
      await domains.reload()
      return got
    })
  return (
    <section class="sheet">
      <h2>{texts.title}</h2>
      <Button onClick={() => (isAdding.value = true)}>{texts.add}</Button>
      <List
        from={domains}
        caption={texts.title}
        head={texts.head}
        empty={texts.empty}
        row={(domain) => [
          domain.domainName,
          domain.dnsConfirmed ? texts.yes : texts.pointHere,
          domain.healthy ? texts.yes : texts.notYet,
          domain.provisioned ? texts.yes : texts.notYet,
          domain.primary ? texts.primary : <Button onClick={primary(domain.id)}>{texts.makePrimary}</Button>,
        ]}
      />
      {isAdding.value && (
        <Dialog title={texts.add} onClose={() => (isAdding.value = false)}>
          <Form
            fields={[{ name: 'name', label: texts.name }]}
            button={texts.addIt}
            submit={async ({ name = '' }) => {
              await ask(() => api.POST('/v1/sites/{site_id}/domains', { params, body: { name } }))
              isAdding.value = false
              await domains.reload()
            }}
          />
        </Dialog>
      )}
    </section>
  )
}
