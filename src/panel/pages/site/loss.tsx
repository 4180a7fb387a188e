import type { components } from '../../../sdk/api.generated.ts'
import { List } from '../../parts/list.tsx'
import { sizeOf } from '../../size.ts'
import { restoreTexts as texts } from '../../texts/site/backups.ts'

type Preview = components['schemas']['RestorePreview']
type Files = components['schemas']['RestorePreviewFiles']

/** What a restore would lose. */
export const Loss = ({ preview: { files, database } }: { readonly preview: Preview }) => (
  <div role="status">
    {files && <Some said={texts.lostFiles(files.removed.count, sizeOf(files.removed.bytes))} of={files.removed} />}
    {files && <Some said={texts.otherFiles(files.written.count, sizeOf(files.written.bytes))} of={files.written} />}
    {database && (
      <>
        <h3>{texts.lostRows}</h3>
        <List
          from={{ got: { value: { data: database.counts } }, fault: { value: '' } }}
          caption={texts.lostRows}
          head={texts.rowsHead}
          empty={texts.noRows}
          row={(one) => [`${one.kind} (${one.table})`, one.new, one.changed]}
        />
        {database.newest.length > 0 && (
          <>
            <h3>{texts.newest}</h3>
            <List
              from={{ got: { value: { data: database.newest } }, fault: { value: '' } }}
              caption={texts.newest}
              head={texts.newestHead}
              empty=""
              row={(one) => [one.kind, one.title, one.at]}
            />
          </>
        )}
      </>
    )}
  </div>
)

const Some = ({ said, of }: { readonly said: string; readonly of: Files }) => (
  <>
    <p>{said}</p>
    {of.first.length > 0 && (
      <details>
        <summary>{texts.first}</summary>
        <ul>
          {of.first.map((path) => (
            <li key={path}>
              <code>{path}</code>
            </li>
          ))}
        </ul>
      </details>
    )}
  </>
)
