/* Error reports of the toolkit, as silence. */
#pragma once
#include <map>
#include <string>
#include <vector>
class ErrorManager {
public:
    static ErrorManager &GetInstance()
    {
        static ErrorManager instance;
        return instance;
    }
    int ReportInterErrMessage(const std::string &, const std::string &) { return 0; }
    int ATCReportErrMessage(const std::string &, const std::vector<std::string> & = {}, const std::vector<std::string> & = {}) { return 0; }
};
#define REPORT_INNER_ERROR(code, ...) ((void)0)
#define REPORT_INNER_ERR_MSG(code, ...) ((void)0)
#define REPORT_PREDEFINED_ERR_MSG(code, ...) ((void)0)
#define REPORT_CALL_ERROR(code, ...) ((void)0)
#define REPORT_INPUT_ERROR(code, key, value) ((void)0)
