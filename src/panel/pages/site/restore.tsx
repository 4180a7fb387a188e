import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask, messageOf } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Progress } from '../../parts/progress.tsx'
import { useRefusalOn } from '../../parts/rights.tsx'
import { SitePicker } from '../../parts/site-picker.tsx'
import { restoreTexts as texts } from '../../texts/site/backups.ts'
import { Loss } from './loss.tsx'
import type { PartProps } from './part.ts'

type Order = components['schemas']['NewRestore']
type Preview = components['schemas']['RestorePreview']

export interface RestoreFrom {
  readonly taken: string
  readonly fs?: number
  readonly db?: number
}

const linesOf = (text: FormDataEntryValue | null): string[] =>
  String(text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** What is restored of a backup and onto which site, what would be lost, and then the restore. */
export function Restore({ site, id, act, from, onClose }: PartProps & { readonly from: RestoreFrom; onClose(): void }) {
  const form = useRef<HTMLFormElement>(null)
  const target = useSignal<{ id: number; name: string }>({ id, name: site.displayName })
  const fault = useSignal('')
  const looking = useSignal<{ operation: number; target: number } | undefined>(undefined)
  const preview = useSignal<Preview | undefined>(undefined)
  const there = useRefusalOn(target.value.id, 'restoreSite')
  const draft = useDraft(form, texts.what)
  function orderOf(): Order {
    const data = new FormData(form.current ?? undefined)
    const [paths, tables] = [linesOf(data.get('paths')), linesOf(data.get('tables'))]
    const isFiles = from.fs !== undefined && (from.db === undefined || data.has('fs'))
    const isDatabase = from.db !== undefined && (from.fs === undefined || data.has('db'))
    if (!isFiles && !isDatabase) throw new Error(texts.nothing)
    return {
      ...(isFiles && { filesystem_id: from.fs }),
      ...(isDatabase && { database_id: from.db }),
      ...(isFiles && paths.length > 0 && { paths }),
      ...(isDatabase && tables.length > 0 && { tables }),
      ...(target.value.id !== id && { restore_on_site_id: target.value.id }),
    }
  }
  const order = (body: Order) =>
    ask(() => api.POST('/v1/sites/{site_id}/restores', { params: { path: { site_id: id } }, body }))
  const attempt = (work: () => Promise<void>) => () => {
    fault.value = ''
    void work().catch((error: unknown) => {
      fault.value = messageOf(error)
    })
  }
  const look = attempt(async () => {
    preview.value = undefined
    const { operationId } = await order({ ...orderOf(), dry_run: true })
    looking.value = operationId === undefined ? undefined : { operation: operationId, target: target.value.id }
  })
  const read = attempt(async () => {
    if (!looking.value) return
    const path = { site_id: looking.value.target, operation_id: looking.value.operation }
    preview.value = (await ask(() => api.GET('/v1/sites/{site_id}/restores/{operation_id}', { params: { path } }))).data
    looking.value = undefined
  })
  const restore = attempt(async () => {
    const got = await order(orderOf())
    draft.forget()
    onClose()
    act(texts.restore, async () => got)()
  })
  return (
    <Dialog title={texts.title(from.taken)} isWide onClose={onClose}>
      <form ref={form} onInput={draft.keep} onSubmit={(event) => event.preventDefault()}>
        {from.fs !== undefined && from.db !== undefined && (
          <fieldset class="row">
            <legend>{texts.what}</legend>
            {(['fs', 'db'] as const).map((kind) => (
              <label key={kind}>
                <input type="checkbox" name={kind} value="true" defaultChecked /> {texts[kind]}
              </label>
            ))}
          </fieldset>
        )}
        {from.fs !== undefined && <Lines name="paths" label={texts.paths} />}
        {from.db !== undefined && <Lines name="tables" label={texts.tables} />}
        <SitePicker
          label={texts.onto}
          chosen={target.value.id === id ? { id, name: texts.thisSite(site.displayName) } : target.value}
          choose={(chosen) => {
            target.value = chosen
          }}
        />
      </form>
      <p class="quiet">{texts.help}</p>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {looking.value && (
        <Progress
          key={looking.value.operation}
          id={looking.value.operation}
          about={texts.looking}
          onEnd={({ state }) => state === 'succeeded' && read()}
        />
      )}
      {preview.value && <Loss preview={preview.value} />}
      {there.reason && <p class="quiet">{there.reason}</p>}
      {there.isKnown && !there.reason && (
        <p class="row">
          <Button onClick={look}>{texts.look}</Button>
          <Button isBad onClick={restore}>
            {texts.go}
          </Button>
        </p>
      )}
    </Dialog>
  )
}

const Lines = ({ name, label }: { readonly name: string; readonly label: string }) => (
  <label>
    <span>{label}</span>
    <textarea name={name} rows={2} />
  </label>
)
