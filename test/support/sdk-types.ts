import { createRequire } from 'node:module'
import { join } from 'node:path'
import { installTools } from '../../tools/run.js'

/** The part of openapi-typescript that is used here. Its folder is apart, so its types are not. */
interface Generator {
  readonly default: (document: string) => Promise<unknown>
  readonly astToString: (nodes: unknown) => string
}

/** Returns openapi-typescript's output for an OpenAPI document. */
export async function sdkTypes(document: string): Promise<string> {
  const fromTools = createRequire(join(installTools(), 'package.json'))
  const { default: generate, astToString }: Generator = fromTools('openapi-typescript')
  return `// Made from the OpenAPI document by npm run openapi: not to be changed by hand.\n${astToString(await generate(JSON.stringify(ofSuccess(JSON.parse(document)))))}`
}

/**
 * Reduces a document to successful responses: failures are thrown as one type, and headers have properties of their
 * own. Clients need types for a fifth of the document.
 */
function ofSuccess(document: Document): Document {
  const { responses: _responses, headers: _headers, ...components } = document.components
  const paths = Object.entries(document.paths).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([method, operation]) => {
        const responses = Object.entries(operation.responses).filter(([status]) => Number(status) < 300)
        return [
          method,
          {
            ...operation,
            responses: Object.fromEntries(responses.map(([status, each]) => [status, withoutExamples(each)])),
          },
        ]
      }),
    ),
  ])
  return { ...document, components, paths: Object.fromEntries(paths) }
}

const withoutExamples = ({ headers: _, content, ...each }: Answer): object => ({
  ...each,
  ...(content && {
    content: Object.fromEntries(Object.entries(content).map(([type, { schema }]) => [type, { schema }])),
  }),
})

interface Answer {
  readonly headers?: unknown
  readonly content?: Record<string, { readonly schema: unknown }>
}

interface Document {
  readonly components: Record<string, object>
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, Answer> }>>
}
