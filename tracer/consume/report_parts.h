/*
 * What every report in HTML contains: report.css and the scripts report*.js.
 */
#ifndef TRACER_CONSUME_REPORT_PARTS_H
#define TRACER_CONSUME_REPORT_PARTS_H

extern const char report_css[], report_js[];

#endif
