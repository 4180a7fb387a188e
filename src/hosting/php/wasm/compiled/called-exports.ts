import { readFile } from 'node:fs/promises'

/**
 * Finds the exports of PHP's module that its JavaScript calls by name, about 500 of 7,500. All are exported because
 * php-wasm can load libraries, which could call any function. No site loads any, and wrapping all exports was a third
 * of a start.
 * @param module path of the JavaScript
 * @returns null when its form is unknown: then all exports are taken
 */
export async function calledExports(module: string): Promise<readonly string[] | null> {
  const script = await readFile(module, 'utf8')
  const assigned = [...script.matchAll(/wasmExports\[\s*'([^']+)'\s*\]/g)].map(([, name]) => name as string)
  // Those during which PHP may wait, whatever calls them.
  const waiting = /exportPattern =\s*\/\^\(([^)]+)\)\$\//.exec(script)?.[1]?.split('|')
  return assigned.length > 0 && waiting ? [...new Set([...assigned, ...waiting])] : null
}
