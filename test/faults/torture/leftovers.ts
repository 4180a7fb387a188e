import { readdir } from 'node:fs/promises'

/** Finds files that nothing will use again after an orderly stop. */
export async function leftovers(dataDir: string, temporary: string): Promise<string[]> {
  const inTemporary = await readdir(temporary)
  const inData = (await readdir(dataDir, { recursive: true })).filter(
    (name) => !/^(sites|cores|templates)\/[^/]+\//.test(name) && /\.(tmp|making|part)$|\.tmp[.-]/.test(name),
  )
  return [
    ...(inTemporary.length > 0
      ? [`${inTemporary.length} left in the temporary folder: ${inTemporary.slice(0, 5)}`]
      : []),
    ...(inData.length > 0 ? [`${inData.length} unfinished in the data folder: ${inData.slice(0, 5)}`] : []),
  ]
}
