import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { changes } from '../../live.ts'
import { Button } from '../../parts/button.tsx'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { Progress } from '../../parts/progress.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { importsTexts as texts } from '../../texts/site/imports.ts'
import { timeOf } from '../../time.ts'
import { DeleteImport } from './delete-import.tsx'
import { ImportPlan } from './import-plan.tsx'
import { Imported } from './imported.tsx'
import type { Import, PartProps } from './part.ts'
import { ChooseFiles, type Sending, Uploading, useSending } from './upload.tsx'

type NewImportBody = components['schemas']['NewImport']

/** Imports a site from another host over this one: its archive, the plan, the import, and the remaining steps. */
export function Imports(props: PartProps) {
  const { id } = props
  const list = useLoad(() => ask(() => api.GET('/v1/sites/{id}/imports', { params: { path: { id } } })), [id])
  const [newest] = list.got.value?.data ?? []
  const current = newest && !['imported', 'failed'].includes(newest.state) ? newest : undefined
  const sending = useSending(id, list.reload)
  const again = () => {
    changes.value++
  }
  return (
    <>
      {!current && newest?.error && <Failed error={newest.error} />}
      {sending.shown.value && <Uploading sending={sending} />}
      {current?.state === 'uploading' && !sending.shown.value && (
        <Waiting id={id} current={current} sending={sending} onDone={list.reload} />
      )}
      {current?.state === 'waiting' && current.plugin && (
        <WaitingForPlugin id={id} current={current} address={current.plugin.address} onDone={list.reload} />
      )}
      {current?.operationId && current.state === 'inspecting' && (
        <Progress key={current.operationId} id={current.operationId} about={texts.inspecting} onEnd={again} />
      )}
      {current?.operationId && current.state === 'importing' && (
        <Progress key={current.operationId} id={current.operationId} about={texts.importing} onEnd={again} />
      )}
      {current?.state === 'ready' && current.error && <Failed error={current.error} />}
      {current?.state === 'ready' && current.plan && (
        <ImportPlan {...props} current={current} plan={current.plan} reload={list.reload} />
      )}
      {!current && newest?.state === 'imported' && <Imported {...props} done={newest} />}
      {list.got.value && !current && !sending.shown.value && (
        <NewImport id={id} sending={sending} onDone={list.reload} />
      )}
      <section class="sheet">
        <h2>{texts.earlier}</h2>
        <List
          from={list}
          caption={texts.earlier}
          head={texts.earlierHead}
          empty={texts.noImports}
          row={({ sources, source, plugin, state, created }) => [
            <span class="wrap">{source?.host ?? plugin?.address ?? sources.join(', ')}</span>,
            <span class={`state ${state === 'imported' ? 'succeeded' : state === 'failed' ? 'failed' : 'running'}`}>
              {texts.states[state]}
            </span>,
            timeOf(created),
          ]}
        />
      </section>
    </>
  )
}

const ways = ['upload', 'address', 'ssh', 'plugin'] as const

const Failed = ({ error }: { readonly error: string }) => (
  <section class="sheet">
    <h2>{texts.failed}</h2>
    <p class="fault">{error}</p>
  </section>
)

interface Ends {
  readonly id: number
  onDone(): Promise<void>
}

function NewImport({ id, sending, onDone }: Ends & { readonly sending: Sending }) {
  const way = useSignal<(typeof ways)[number]>('upload')
  const create = async (body: NewImportBody) => {
    await ask(() => api.POST('/v1/sites/{id}/imports', { params: { path: { id } }, body }))
    await onDone()
  }
  return (
    <section class="sheet">
      <div class="row spread">
        <h2>{texts.title}</h2>
        <fieldset class="row choice" aria-label={texts.ways}>
          {ways.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={way.value === each}
              onClick={() => {
                way.value = each
              }}
            >
              {texts.way[each]}
            </button>
          ))}
        </fieldset>
      </div>
      <p>{texts.is}</p>
      <p class="quiet">{texts.wayIs[way.value]}</p>
      {way.value === 'upload' && <ChooseFiles sending={sending} button={texts.upload} />}
      {way.value === 'address' && (
        <Form
          fields={[{ name: 'urls', label: texts.addresses, type: 'textarea' }]}
          of="createImport"
          button={texts.fetch}
          isEmptied
          submit={({ urls = '' }) => create({ urls: urls.split(/\s+/).filter(Boolean) })}
        />
      )}
      {way.value === 'ssh' && <OverSsh create={create} />}
      {way.value === 'plugin' && (
        <Form
          fields={[{ name: 'address', label: texts.oldAddress, type: 'url', placeholder: 'https://old.example.com' }]}
          of="createImport"
          button={texts.getPlugin}
          submit={({ address = '' }) => create({ plugin: { address: address.trim() } })}
        />
      )}
    </section>
  )
}

/** The login of the old site. The browser stores no field of it. */
const OverSsh = ({ create }: { create(body: NewImportBody): Promise<void> }) => (
  <Form
    fields={[
      { name: 'host', label: texts.ssh.host, placeholder: 'ssh.example.com' },
      { name: 'port', label: texts.ssh.port, type: 'number', value: '22' },
      { name: 'user', label: texts.ssh.user, autocomplete: 'off' },
      { name: 'password', label: texts.ssh.password, type: 'password', autocomplete: 'off', isOptional: true },
      { name: 'key', label: texts.ssh.key, type: 'textarea', hint: texts.ssh.keyIs, isOptional: true },
      { name: 'path', label: texts.ssh.path, placeholder: 'public_html', hint: texts.ssh.pathIs },
      { name: 'hostKey', label: texts.ssh.hostKey, hint: texts.ssh.hostKeyIs, isOptional: true },
    ]}
    of="createImport"
    button={texts.fetch}
    isForgotten
    submit={({ host = '', port, user = '', password, key = '', path = '', hostKey = '' }) =>
      create({
        source: {
          ...{ type: 'ssh', host: host.trim(), port: Number(port), user, path },
          ...(password && { password }),
          ...(key.trim() && { private_key: key }),
          ...(hostKey.trim() && { host_key: hostKey }),
        },
      })
    }
  />
)

/** The plugin is not installed on the old site yet, or does not answer. */
const WaitingForPlugin = ({
  id,
  current,
  address,
  onDone,
}: Ends & { readonly current: Import; readonly address: string }) => (
  <section class="sheet">
    <h2>{texts.installPlugin}</h2>
    {current.error && <p class="fault">{current.error}</p>}
    <ol>
      {texts.pluginSteps(address).map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ol>
    <p class="row">
      <a class="button" href={`/v1/sites/${id}/imports/${current.id}/plugin`} download>
        {texts.downloadPlugin}
      </a>
      <Button
        of="fetchImport"
        isMain
        onClick={async () => {
          const path = { site_id: id, import_id: current.id }
          await ask(() => api.POST('/v1/sites/{site_id}/imports/{import_id}/fetch', { params: { path } }))
          await onDone()
        }}
      >
        {texts.fetch}
      </Button>
      <DeleteImport id={id} importId={current.id} onDone={onDone} />
    </p>
  </section>
)

/** An upload that was interrupted, or that another person began. */
const Waiting = ({ id, current, sending, onDone }: Ends & { readonly current: Import; readonly sending: Sending }) => (
  <section class="sheet">
    <h2>{texts.waits}</h2>
    <p>{texts.waitsFor(current.sources.join(', '))}</p>
    <ChooseFiles sending={sending} continues={current} button={texts.continue} />
    <DeleteImport id={id} importId={current.id} onDone={onDone} />
  </section>
)
