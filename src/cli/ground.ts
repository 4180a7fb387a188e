import { openRecords, type Records, type RecordsOptions, type RecordsSettings } from '../roles/part.ts'

/** Runs a command's work on the database that the settings name, and closes it. No command makes a folder or a database by itself. */
export async function onRecords(
  config: RecordsSettings,
  work: (records: Records) => Promise<void>,
  options: RecordsOptions = { makes: false, strangers: 'refuse' },
): Promise<void> {
  const records = await openRecords(config, options)
  try {
    await work(records)
  } finally {
    await records.database.close()
  }
}
