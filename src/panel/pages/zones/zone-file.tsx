import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Change, Changes } from '../../parts/changes.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { attempt, told } from '../../parts/toasts.tsx'
import { zonesTexts as texts } from '../../texts/zones.ts'

interface Props {
  readonly id: number
  readonly name: string
  reload(): Promise<void>
}

/** Exports and imports all records of a zone as a file. */
export function ZoneFilePart({ id, name, reload }: Props) {
  const params = { path: { zone_id: id } }
  const shown = useSignal<string | undefined>(undefined)
  const isImporting = useSignal(false)
  return (
    <Card class="s6" title={texts.file}>
      <div class="stack-14">
        <p class="quiet">{texts.fileIs}</p>
        <p class="row">
          <Button
            icon="download"
            onClick={attempt(async () => {
              shown.value = (await ask(() => api.GET('/v1/zones/{zone_id}/file', { params }))).data
            })}
          >
            {texts.show}
          </Button>
          <Button icon="upload" onClick={() => (isImporting.value = true)}>
            {texts.importFile}
          </Button>
        </p>
        {shown.value !== undefined && (
          <Dialog title={texts.exported(name)} isWide onClose={() => (shown.value = undefined)}>
            <textarea class="file" readOnly rows={12} aria-label={texts.text} value={shown.value} />
            <p class="row">
              <Button
                isMain
                icon="copy"
                onClick={() => void navigator.clipboard?.writeText(shown.value ?? '').then(() => told(texts.copied))}
              >
                {texts.copy}
              </Button>
            </p>
          </Dialog>
        )}
        {isImporting.value && <Import id={id} reload={reload} onClose={() => (isImporting.value = false)} />}
      </div>
    </Card>
  )
}

type Preview = components['schemas']['ZoneFilePreview']

/** Chooses a file, previews what it would add, and then imports it. */
function Import({ id, reload, onClose }: Pick<Props, 'id' | 'reload'> & { onClose(): void }) {
  const params = { path: { zone_id: id } }
  const preview = useSignal<(Preview & { readonly file: string }) | undefined>(undefined)
  const added = preview.value?.taken.filter(({ isNew }) => isNew).length ?? 0
  return (
    <Dialog title={texts.importFile} isWide onClose={onClose}>
      <div class="stack-14">
        <Form
          fields={[{ name: 'file', label: texts.text, hint: texts.textHint, type: 'textarea' }]}
          button={texts.preview}
          submit={async ({ file = '' }) => {
            preview.value = undefined
            const got = await ask(() => api.POST('/v1/zones/{zone_id}/file/preview', { params, body: { file } }))
            preview.value = { ...got.data, file }
          }}
        />
        {preview.value && <ImportPreview preview={preview.value} />}
        {added > 0 && (
          <p class="row">
            <Button
              isMain
              onClick={attempt(async () => {
                const { file = '' } = preview.value ?? {}
                await ask(() => api.PUT('/v1/zones/{zone_id}/file', { params, body: { file } }))
                told(texts.imported(added))
                onClose()
                await reload()
              })}
            >
              {texts.import(added)}
            </Button>
          </p>
        )}
      </div>
    </Dialog>
  )
}

/** The records of a file that are added, exist already, or are skipped, with the reasons. */
function ImportPreview({ preview: { taken, leftOut } }: { readonly preview: Preview }) {
  const fresh = taken.filter(({ isNew }) => isNew)
  const known = taken.length - fresh.length
  return (
    <div role="status">
      <Changes label={texts.previewIs}>
        {fresh.map(({ line, type, name, value }) => (
          <Change key={`${line} ${value}`} kind="added">
            <code>{texts.new(type, name || texts.itself, value)}</code>
          </Change>
        ))}
        {fresh.length === 0 && <Change kind="kept">{texts.nothing}</Change>}
        {known > 0 && <Change kind="kept">{texts.known(known)}</Change>}
        {leftOut.length > 0 && (
          <Change kind="skipped">
            {texts.leftOut(leftOut.length)}
            <ul>
              {leftOut.map(({ line, text, reason }) => (
                <li key={line}>
                  <code>{texts.lineOf(line, text)}</code>
                  <p class="quiet small">{reason}</p>
                </li>
              ))}
            </ul>
          </Change>
        )}
      </Changes>
    </div>
  )
}
