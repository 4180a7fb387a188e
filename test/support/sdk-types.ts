import { registerHooks } from 'node:module'

/**
 * Returns openapi-typescript's output for an OpenAPI document. It uses the compiler's old JavaScript interface, which
 * TypeScript 7 lacks: it alone gets `typescript` from ts-morph.
 */
export async function sdkTypes(document: string): Promise<string> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      next(
        specifier === 'typescript' && isOfGenerator(context.parentURL)
          ? '@ts-morph/common/dist/typescript.js'
          : specifier,
        context,
      ),
  })
  try {
    const { default: generate, astToString } = await import('openapi-typescript')
    return `// Made from the OpenAPI document by npm run openapi: not to be changed by hand.\n${astToString(await generate(JSON.stringify(ofSuccess(JSON.parse(document)))))}`
  } finally {
    hooks.deregister()
  }
}

const isOfGenerator = (url: string | undefined): boolean => url?.includes('/node_modules/openapi-typescript/') ?? false

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
