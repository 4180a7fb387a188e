import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { importsTexts as texts } from '../../texts/site/imports.ts'

interface Props {
  readonly id: number
  readonly importId: number
  onDone(): Promise<void>
}

export const DeleteImport = ({ id, importId, onDone }: Props) => (
  <Button
    of="deleteImport"
    isBad
    onClick={askFirst({
      title: texts.delete,
      text: texts.deleteIs,
      button: texts.delete,
      async go() {
        const path = { site_id: id, import_id: importId }
        await ask(() => api.DELETE('/v1/sites/{site_id}/imports/{import_id}', { params: { path } }))
        await onDone()
      },
    })}
  >
    {texts.delete}
  </Button>
)
