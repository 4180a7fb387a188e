import { readFile } from 'node:fs/promises'

/**
 * The exports of PHP's module that its JavaScript calls by name, some 500 of 7,500: php-wasm can load libraries, which could ask for any
 * function, so all are exported. No site loads any, and to wrap all of them was a third of a start.
 * @param module path of the JavaScript
 * @returns null where it is not written as is known: then all of them are taken
 */
export async function calledExports(module: string): Promise<readonly string[] | null> {
  const script = await readFile(module, 'utf8')
  const assigned = [...script.matchAll(/wasmExports\[\s*'([^']+)'\s*\]/g)].map(([, name]) => name as string)
  // those during which PHP may wait, whoever calls them
  const waiting = /exportPattern =\s*\/\^\(([^)]+)\)\$\//.exec(script)?.[1]?.split('|')
  return assigned.length > 0 && waiting ? [...new Set([...assigned, ...waiting])] : null
}
