// Renders the chart as Helm does, with Go's text/template and Sprig. It reads templates, files and values as JSON from its
// standard input.
package main

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type files map[string]string

func (f files) Get(name string) string { return f[name] }

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

func main() {
	var input struct {
		Templates map[string]string
		Files     files
		Dots      []map[string]interface{}
	}
	check(json.NewDecoder(os.Stdin).Decode(&input))
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, dot interface{}) (string, error) {
		var out strings.Builder
		err := all.ExecuteTemplate(&out, name, dot)
		return out.String(), err
	}
	functions["required"] = func(why string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return value, errors.New(why)
		}
		return value, nil
	}
	functions["toYaml"] = func(value interface{}) (string, error) {
		out, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(out), "\n"), err
	}
	all.Funcs(functions)
	for name, source := range input.Templates {
		template.Must(all.New(name).Parse(source))
	}
	results := []map[string]string{}
	for _, dot := range input.Dots {
		dot["Files"] = input.Files
		rendered := map[string]string{}
		for name := range input.Templates {
			if !strings.HasPrefix(name, "_") {
				var out strings.Builder
				check(all.ExecuteTemplate(&out, name, dot))
				// Helm does the same.
				rendered[name] = strings.ReplaceAll(out.String(), "<no value>", "")
			}
		}
		results = append(results, rendered)
	}
	check(json.NewEncoder(os.Stdout).Encode(results))
}
