import { getClientReport } from './get-client-report.ts'
import { getClientReportPage } from './get-client-report-page.ts'
import { getClientReportPdf } from './get-client-report-pdf.ts'
import { listClientReports } from './list-client-reports.ts'
import { getClientReportSettings } from './mail/get-client-report-settings.ts'
import { updateClientReportSettings } from './mail/update-client-report-settings.ts'

/** Additions of Stead. */
export const endpoints = [
  listClientReports,
  getClientReport,
  getClientReportPage,
  getClientReportPdf,
  getClientReportSettings,
  updateClientReportSettings,
]
