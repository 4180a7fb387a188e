import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Step, type StepState, Steps } from '../../parts/steps.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { followOperation, type Operation, showWork } from '../../parts/work.ts'
import { stepTitle } from '../../texts/operation-names.ts'
import { progressTexts } from '../../texts/parts.ts'
import { sitesTexts as texts } from '../../texts/sites.ts'
import { siteAddress } from '../site-address.ts'

/** Offers the versions and types that the API lists. */
type Order = components['schemas']['NewSite']

interface Ordered {
  readonly id: number
  readonly name: string
  readonly url: string
  readonly operationId: number
}

/** Creates a site, and shows each step until its link opens. If closed earlier, progress continues in the corner. */
export function NewSite(props: { readonly isForImport: boolean; onClose(): void; onChange(): void }) {
  const ordered = useSignal<Ordered | undefined>(undefined)
  return ordered.value ? (
    <Creating {...props} of={ordered.value} />
  ) : (
    <Order
      {...props}
      onOrdered={(order) => {
        ordered.value = order
        props.onChange()
      }}
    />
  )
}

function Order(props: { readonly isForImport: boolean; onClose(): void; onOrdered(order: Ordered): void }) {
  const versions = useLoad(() => ask(() => api.GET('/v1/sites/php-versions')))
  const kinds = useLoad(() => ask(() => api.GET('/v1/sites/install-options')))
  const [php, installs] = [versions.got.value?.data.toReversed(), kinds.got.value?.data]
  return (
    <Dialog title={props.isForImport ? texts.importSite : texts.newSite} onClose={props.onClose}>
      {props.isForImport && <p class="quiet">{texts.importIs}</p>}
      <Form
        fields={[
          { name: 'name', label: texts.name, autocomplete: 'off', hint: texts.nameHint },
          { name: 'kind', label: texts.kind, options: Object.entries(texts.kinds) },
          { name: 'php_version', label: texts.php, options: php ?? [] },
          ...(props.isForImport
            ? []
            : [
                { name: 'install', label: texts.install, options: installs ?? [] },
                { name: 'network', label: texts.network, type: 'checkbox' as const },
              ]),
        ]}
        button={texts.create}
        submit={async ({ name = '', kind, php_version, install, network }) => {
          const body: Order = {
            name,
            ...(php_version && { php_version: php_version as Order['php_version'] }),
            ...(install && { install: install as Order['install'] }),
            ...(kind === 'staging' && { staging: true }),
            ...(network && { multisite_support: true }),
          }
          const { data, operationId } = await ask(() => api.POST('/v1/sites', { body }))
          if (operationId === undefined) return props.onClose()
          props.onOrdered({ id: data.id, name, url: data.url, operationId })
        }}
      />
    </Dialog>
  )
}

/** The state of an operation's step, as a checklist shows it. */
const marks: Readonly<Record<string, StepState>> = { succeeded: 'done', running: 'now', failed: 'failed' }

function Creating(props: { readonly isForImport: boolean; readonly of: Ordered; onClose(): void; onChange(): void }) {
  const { id, name, url, operationId } = props.of
  const operation = useSignal<Operation | undefined>(undefined)
  useEffect(
    () =>
      followOperation(operationId, (seen) => {
        operation.value = seen
        if (seen.finishedAt) props.onChange()
      }),
    [operationId],
  )
  const { state = 'queued', steps = [], error, finishedAt } = operation.value ?? {}
  const close = () => {
    if (!finishedAt) showWork(operationId, texts.creating(name), () => props.onChange())
    props.onClose()
  }
  const isReady = state === 'succeeded'
  return (
    <Dialog title={isReady ? texts.ready(name) : texts.creating(name)} onClose={close}>
      <div role="status" aria-live="polite">
        <p>
          <span class={`state ${state}`}>{progressTexts.states[state]}</span>
        </p>
        <Steps label={texts.progress}>
          {steps.map((step) => (
            <Step key={step.name} state={marks[step.state] ?? 'todo'} title={stepTitle(step.name)} />
          ))}
        </Steps>
        {error && <p class="fault">{error}</p>}
      </div>
      {isReady ? (
        <p class="row">
          {props.isForImport ? (
            <a class="button main" href={`#/sites/${id}/imports`} onClick={close}>
              {texts.chooseSource}
            </a>
          ) : (
            <a class="button main" href={siteAddress(url)} target="_blank" rel="noreferrer">
              <Icon name="externalLink" /> {texts.openNew}
            </a>
          )}
          <a class="button" href={`#/sites/${id}`} onClick={close}>
            {texts.manage}
          </a>
        </p>
      ) : (
        <p class="row">
          <Button onClick={close}>{finishedAt ? texts.close : texts.hide}</Button>
          {!finishedAt && <span class="quiet small">{texts.hideIs}</span>}
        </p>
      )}
    </Dialog>
  )
}
